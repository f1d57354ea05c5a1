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

const readyWithinMs = 60_000

/** Waits until all of them are members of their groups; gives those that are not after a minute. */
export async function notReady(members: readonly Member[]): Promise<readonly Member[]> {
  const late = new Set(members)
  const ready = members.map(async (member) => {
    if (await untilReady(member.process)) late.delete(member)
  })
  await Promise.all(ready)
  return [...late]
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

async function untilReady(started: RunningProcess): Promise<boolean> {
  const until = Date.now() + readyWithinMs
  const { url } = JSON.parse(await started.line(/health and metrics at/)) as { readonly url: string }
  for (;;) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return true
    if (started.child.exitCode !== null || Date.now() > until) return false
    await sleep(50)
  }
}
