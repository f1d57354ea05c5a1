import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import type { Fleet, Member, ServiceName } from './fleet.ts'
import type { FaultWindow } from './ledger.ts'
import type { Disturbance, Far, Network } from './network.ts'
import type { Fault, NetworkFaultKind } from './plan.ts'
import type { ChaosReceiver } from './receiver.ts'

/** What faults are done to. */
export interface Stage {
  readonly fleet: Fleet
  readonly receiver: ChaosReceiver
  readonly sessionTimeoutMs: number
  readonly cluster: Cluster
  readonly say: (line: string) => void
  /** Null without toxiproxy. */
  readonly network: Network | null
}

const disturbances: Readonly<Record<NetworkFaultKind, readonly [Far, Disturbance]>> = {
  'cut-broker': ['broker', 'cut'],
  'delay-broker': ['broker', 'delay'],
  'black-hole-broker': ['broker', 'black-hole'],
  'cut-receiver': ['receiver', 'cut'],
  'delay-receiver': ['receiver', 'delay'],
  'black-hole-receiver': ['receiver', 'black-hole'],
}

/** How long after a fault what it left undone may still be done again: what was not committed, and the takeover. */
const commitIntervalMs = 250

/** What is the same for all windows of a run. */
export interface WindowSettings {
  readonly sessionTimeoutMs: number
  /** How many brokers the cluster has. */
  readonly brokers: number
}

/** The times in which something that was amiss from `from` to `to` counts. */
export function windowOf(kind: string, from: number, to: number, settings: WindowSettings): FaultWindow {
  const isPartialOutage = settings.brokers > 1 && (kind.endsWith('-broker') || kind === 'slow-write')
  const leavesZombie = kind.startsWith('freeze-')
  return { kind, from, to: to + commitIntervalMs + settings.sessionTimeoutMs, isPartialOutage, leavesZombie }
}

/** Does one fault and resolves when the system is whole again. Gives back the times in which it counts. */
export async function commit(stage: Stage, fault: Fault): Promise<readonly FaultWindow[]> {
  const { sessionTimeoutMs, cluster } = stage
  const settings = { sessionTimeoutMs, brokers: cluster.size }
  const window = (from: number, to: number): FaultWindow => windowOf(fault.kind, from, to, settings)
  const memberOf = (service: ServiceName): Member => {
    const ofService = stage.fleet.membersOf(service)
    return ofService[Math.floor(fault.which * ofService.length)]!
  }

  /** The loss of a member and its coming back are two rebalances, and each may double what is in flight. */
  async function restarted(member: Member, signal: 'SIGKILL' | 'SIGTERM'): Promise<readonly FaultWindow[]> {
    const from = Date.now()
    await stage.fleet.leave(member, signal)
    const gone = window(from, Date.now())
    await sleep(fault.lastsMs)
    const back = Date.now()
    await stage.fleet.comeBack(member)
    return [gone, window(back, Date.now())]
  }

  async function whole(): Promise<void> {
    for (const { service, process } of await stage.fleet.notReady()) {
      stage.say(`the ${service} ${process.child.pid} is not ready a minute after ${fault.kind}; going on without it`)
    }
  }

  const from = Date.now()
  switch (fault.kind) {
    case 'kill-dispatcher':
      return restarted(memberOf('dispatcher'), 'SIGKILL')
    case 'kill-retrier':
      return restarted(memberOf('retrier'), 'SIGKILL')
    case 'kill-dead-letter':
      return restarted(memberOf('dead-letter'), 'SIGKILL')
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
      const back = Date.now()
      await whole()
      return [window(from, from + stage.sessionTimeoutMs), window(back, Date.now())]
    }
    case 'kill-broker': {
      const which = Math.floor(fault.which * stage.cluster.size)
      await stage.cluster.kill(which)
      await sleep(fault.lastsMs)
      await stage.cluster.restart(which)
      await whole()
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
        const extra = await stage.fleet.add(round % 2 === 0 ? 'dispatcher' : 'retrier')
        windows.push(window(joining, Date.now()))
        const leaving = Date.now()
        await stage.fleet.leave(extra, 'SIGTERM')
        windows.push(window(leaving, Date.now()))
      }
      return windows
    }
    case 'cut-broker':
    case 'delay-broker':
    case 'black-hole-broker':
    case 'cut-receiver':
    case 'delay-receiver':
    case 'black-hole-receiver': {
      const { network } = stage
      if (network === null) throw new Error(`${fault.kind} takes toxiproxy`)
      const [far, disturbance] = disturbances[fault.kind]
      await network.disturb(far, disturbance)
      await sleep(fault.lastsMs)
      await network.restore(far)
      await whole()
      // What was in flight at the beginning may be done twice, and what is at the end.
      return [window(from, Date.now()), window(Date.now(), Date.now())]
    }
    default:
      return fault.kind satisfies never
  }
}
