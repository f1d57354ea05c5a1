import { setTimeout as sleep } from 'node:timers/promises'
import { fastStartJvmFlags, startLocalKafka } from '@barnabas/local-kafka'
import type { LocalKafka } from '@barnabas/local-kafka'
import { restart, startMember } from './fleet.ts'
import type { Member, ServiceName } from './fleet.ts'
import type { FaultWindow } from './ledger.ts'
import type { Fault } from './plan.ts'
import type { ChaosReceiver } from './receiver.ts'

/** What faults are done to. */
export interface Stage {
  readonly members: readonly Member[]
  readonly env: Readonly<Record<string, string>>
  readonly receiver: ChaosReceiver
  readonly sessionTimeoutMs: number
  broker: LocalKafka
  readonly startBroker: () => Promise<LocalKafka>
}

export function brokerStarter(dataDir: string): (port: number) => Promise<LocalKafka> {
  return (port) =>
    startLocalKafka({
      dataDir,
      port,
      portIsFixed: port !== 0,
      heapMb: 384,
      jvmFlags: fastStartJvmFlags,
      endsWithParent: true,
    })
}

/** How long after a fault what it left undone may still be done again: what was not committed, and the takeover. */
const commitIntervalMs = 250

/** Does one fault and resolves when the system is whole again. Gives back the times in which it counts. */
export async function commit(stage: Stage, fault: Fault): Promise<readonly FaultWindow[]> {
  const afterwardsMs = commitIntervalMs + stage.sessionTimeoutMs
  const window = (from: number, to: number): FaultWindow => ({ kind: fault.kind, from, to: to + afterwardsMs })
  const memberOf = (service: ServiceName): Member => {
    const ofService = stage.members.filter((member) => member.service === service)
    return ofService[Math.floor(fault.which * ofService.length)]!
  }

  /** The loss of a member and its coming back are two rebalances, and each may double what is in flight. */
  async function restarted(member: Member, signal: 'SIGKILL' | 'SIGTERM'): Promise<readonly FaultWindow[]> {
    const from = Date.now()
    await member.process.kill(signal)
    const gone = window(from, Date.now())
    await sleep(fault.lastsMs)
    const back = Date.now()
    await restart(member, stage.env)
    return [gone, window(back, Date.now())]
  }

  const from = Date.now()
  switch (fault.kind) {
    case 'kill-dispatcher':
      return restarted(memberOf('dispatcher'), 'SIGKILL')
    case 'kill-retrier':
      return restarted(memberOf('retrier'), 'SIGKILL')
    case 'stop-dispatcher':
      return restarted(memberOf('dispatcher'), 'SIGTERM')
    case 'stop-retrier':
      return restarted(memberOf('retrier'), 'SIGTERM')
    case 'freeze-dispatcher':
    case 'freeze-retrier': {
      const { child } = memberOf(fault.kind === 'freeze-dispatcher' ? 'dispatcher' : 'retrier').process
      child.kill('SIGSTOP')
      // Long enough that others take over, and it comes back as somebody who does not know that.
      await sleep(stage.sessionTimeoutMs + fault.lastsMs)
      child.kill('SIGCONT')
      return [window(from, from + stage.sessionTimeoutMs), window(Date.now(), Date.now())]
    }
    case 'kill-broker': {
      const { port, pid } = stage.broker
      process.kill(pid, 'SIGKILL')
      await stage.broker.exited
      await sleep(fault.lastsMs)
      stage.broker = await stage.startBroker()
      if (stage.broker.port !== port) throw new Error(`the broker came back on port ${stage.broker.port}, not ${port}`)
      // Writes in flight at the end may be done twice, and everybody joins anew.
      return [window(from, Date.now()), window(Date.now(), Date.now())]
    }
    case 'receiver-gone':
      await stage.receiver.leave()
      await sleep(fault.lastsMs)
      await stage.receiver.comeBack()
      return [window(from, Date.now())]
    case 'rebalance-storm': {
      const joins = 3
      const windows: FaultWindow[] = []
      for (let round = 0; round < joins; round++) {
        const joining = Date.now()
        const extra = await startMember(round % 2 === 0 ? 'dispatcher' : 'retrier', stage.env)
        windows.push(window(joining, Date.now()))
        const leaving = Date.now()
        await extra.process.kill('SIGTERM')
        windows.push(window(leaving, Date.now()))
      }
      return windows
    }
    default:
      return fault.kind satisfies never
  }
}
