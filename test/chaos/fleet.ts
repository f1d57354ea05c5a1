import { setTimeout as sleep } from 'node:timers/promises'
import { runProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'

export type ServiceName = 'dispatcher' | 'retrier' | 'dead-letter'

/** One process of Barnabas, through all its lives. */
export interface Member {
  readonly service: ServiceName
  process: RunningProcess
}

/** Starts a service and resolves when it is ready: it has joined its groups. */
export async function startMember(service: ServiceName, env: Readonly<Record<string, string>>): Promise<Member> {
  return { service, process: await startReady(service, env) }
}

/** Starts the same service again after its process has ended. */
export async function restart(member: Member, env: Readonly<Record<string, string>>): Promise<void> {
  await member.process.exited
  member.process = await startReady(member.service, env)
}

/** Ends it at once, frozen or not. */
export async function endMember({ process }: Member): Promise<void> {
  process.child.kill('SIGCONT')
  await process.kill('SIGKILL')
}

async function startReady(service: ServiceName, env: Readonly<Record<string, string>>): Promise<RunningProcess> {
  const started = runProcess(`services/${service}/main.ts`, { ...env })
  const { url } = JSON.parse(await started.line(/health and metrics at/)) as { readonly url: string }
  for (;;) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady || started.child.exitCode !== null) return started
    await sleep(50)
  }
}
