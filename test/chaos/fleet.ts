import { setTimeout as sleep } from 'node:timers/promises'
import { runProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'

export type ServiceName = 'dispatcher' | 'retrier' | 'dead-letter'

/** One process of Barnabas, through all its lives. */
export interface Member {
  readonly service: ServiceName
  process: RunningProcess
  readonly logs: MemberLog[]
}

export interface MemberLog {
  readonly service: ServiceName
  readonly pid: number | undefined
  readonly lines: readonly string[]
}

/** Starts a service and resolves when it is ready: it has joined its groups. */
export async function startMember(service: ServiceName, env: Readonly<Record<string, string>>): Promise<Member> {
  const process = await startReady(service, env)
  return { service, process, logs: [logOf(service, process)] }
}

/** Starts the same service again after its process has ended. */
export async function restart(member: Member, env: Readonly<Record<string, string>>): Promise<void> {
  await member.process.exited
  member.process = await startReady(member.service, env)
  member.logs.push(logOf(member.service, member.process))
}

function logOf(service: ServiceName, { child, lines }: RunningProcess): MemberLog {
  return { service, pid: child.pid, lines }
}

/** Resolves when all of them are members of their groups. */
export async function allReady(members: readonly Member[]): Promise<void> {
  await Promise.all(members.map(({ process }) => untilReady(process)))
}

/** Ends it at once, frozen or not. */
export async function endMember({ process }: Member): Promise<void> {
  process.child.kill('SIGCONT')
  await process.kill('SIGKILL')
}

async function startReady(service: ServiceName, env: Readonly<Record<string, string>>): Promise<RunningProcess> {
  const started = runProcess(`services/${service}/main.ts`, { ...env })
  await untilReady(started)
  return started
}

async function untilReady(started: RunningProcess): Promise<void> {
  const { url } = JSON.parse(await started.line(/health and metrics at/)) as { readonly url: string }
  for (;;) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady || started.child.exitCode !== null) return
    await sleep(50)
  }
}
