import { setTimeout as sleep } from 'node:timers/promises'
import { runProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import type { Ending } from './ledger.ts'

export type ServiceName = 'dispatcher' | 'retrier' | 'dead-letter'

/** One process of Barnabas, through all its lives. */
export interface Member {
  readonly service: ServiceName
  /** The life that it has now, or had last. */
  readonly process: RunningProcess
}

export interface MemberLog {
  readonly service: ServiceName
  readonly pid: number | undefined
  readonly lines: readonly string[]
}

/** The processes of a run. What ends without being told to is written down and started again. */
export interface Fleet {
  readonly endings: readonly Ending[]
  /** What they said, life by life. */
  readonly logs: readonly MemberLog[]
  membersOf(service: ServiceName): readonly Member[]
  /** Starts a service and resolves when it is ready, that is has joined its groups, or is not after a minute. */
  add(service: ServiceName): Promise<Member>
  /** Ends its process and resolves when that has ended. */
  leave(member: Member, signal: 'SIGKILL' | 'SIGTERM'): Promise<void>
  /** Starts a member that left again; resolves as `add` does. */
  comeBack(member: Member): Promise<void>
  /** Waits until all that have not left are ready; gives those that are not after a minute. */
  notReady(): Promise<readonly Member[]>
  /** Ends all of them at once, frozen or not. */
  end(): Promise<void>
}

interface Living extends Member {
  process: RunningProcess
  hasToLeave: boolean
}

const readyWithinMs = 60_000
/** As a supervisor does: what ends as it starts is not started in a loop. */
const startedAgainAfterMs = 1_000

export function startFleet(env: Readonly<Record<string, string>>, say: (line: string) => void): Fleet {
  const members: Living[] = []
  const endings: Ending[] = []
  const logs: MemberLog[] = []

  function run(service: ServiceName): RunningProcess {
    const started = runProcess(`services/${service}/main.ts`, { ...env })
    logs.push({ service, pid: started.child.pid, lines: started.lines })
    return started
  }

  async function watch(member: Living): Promise<void> {
    const { process, service } = member
    const status = await process.exited
    if (member.hasToLeave) return
    const { pid, signalCode } = process.child
    const index =
      endings.push({
        service,
        pid,
        status: status ?? signalCode,
        at: Date.now(),
        backAt: null,
        lastLine: process.lines.at(-1) ?? '',
      }) - 1
    say(`a ${service} (${pid}) ended by itself with status ${status ?? signalCode}; it is started again`)
    await sleep(startedAgainAfterMs)
    if (member.hasToLeave || member.process !== process) return
    await live(member)
    endings[index] = { ...endings[index]!, backAt: Date.now() }
  }

  async function live(member: Living): Promise<void> {
    member.process = run(member.service)
    void watch(member)
    await untilReady(member)
  }

  const livingOf = (member: Member): Living => members.find((each) => each === member)!

  async function leave(member: Living, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    member.hasToLeave = true
    await member.process.kill(signal)
  }

  return {
    endings,
    logs,
    membersOf: (service) => members.filter((member) => member.service === service && !member.hasToLeave),
    async add(service) {
      const member: Living = { service, process: run(service), hasToLeave: false }
      members.push(member)
      void watch(member)
      await untilReady(member)
      return member
    },
    leave: (member, signal) => leave(livingOf(member), signal),
    async comeBack(member) {
      const living = livingOf(member)
      living.hasToLeave = false
      await live(living)
    },
    async notReady() {
      const staying = members.filter(({ hasToLeave }) => !hasToLeave)
      const areReady = await Promise.all(staying.map(untilReady))
      return staying.filter((_, index) => !areReady[index])
    },
    async end() {
      const ended = members.map((member) => {
        member.process.child.kill('SIGCONT')
        return leave(member, 'SIGKILL')
      })
      await Promise.all(ended)
    },
  }
}

/** Whichever life it has meanwhile. */
async function untilReady(member: Living): Promise<boolean> {
  for (const until = Date.now() + readyWithinMs; Date.now() < until && !member.hasToLeave; await sleep(50)) {
    const line = member.process.lines.find((each) => each.includes('health and metrics at'))
    if (line === undefined) continue
    const { url } = JSON.parse(line) as { readonly url: string }
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return true
  }
  return false
}
