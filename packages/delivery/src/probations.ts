import {
  afterEndByHand,
  afterFailure,
  afterSuccess,
  endpointMark,
  eventMark,
  healthy,
  isFailure,
  probationOf,
  takenOver,
  takenOverMax,
  trialWindow,
} from '@barnabas/core'
import type {
  AttemptResult,
  Health,
  HealthRecord,
  KnownState,
  Probation,
  SourcePosition,
  Subscription,
  Verdict,
} from '@barnabas/core'
import type { Window } from './window.ts'

/** What the processes tell each other; `changed` asks for what this one says (`Probations.recordOf`) in due time. */
export interface HealthPort {
  /** Of all processes that have said something, this one included. */
  of(subscription: string): readonly HealthRecord[]
  subscriptions(): readonly string[]
  changed(subscription: string, withinMs: number): void
  flush(subscription: string): Promise<boolean>
  remove(subscription: string, process: string): Promise<void>
  isGone(process: string): boolean
}

export interface ProbationsOptions {
  readonly health: HealthPort
  /** Names this process. */
  readonly process: string
  readonly subscriptionOf: (id: string) => Subscription | null
  readonly now: () => number
}

/** Whoever makes attempts of a subscription, or tells of it, in this process. */
export interface Attached {
  /** Of its places, all that are attached share the trials of this process. */
  readonly window?: Pick<Window, 'inFlight' | 'limitChanged'>
  /** A probation has begun, was lengthened, or is over; or its trials have begun. */
  readonly onChange?: () => void
  /** The number of parked events may have changed. Called often. */
  readonly onParked?: () => void
}

/**
 * Which endpoints this process leaves to rest, by what it sees itself and by what the others say (`Health`, core): one
 * entry for each subscription, one timer for each probation, nothing for each event.
 */
export interface Probations {
  /** The probation during which nothing may be attempted now, null for none. */
  restOf(subscription: Subscription): Probation | null
  /**
   * The probation that stands, its trials included; one that this process has begun or lengthened only once that stands in
   * the topic. What is told of it is then known to whoever comes after a `kill -9`.
   */
  probationOf(id: string): Probation | null
  /** Events that wait for a retry. */
  parkedOf(id: string): number
  /** How many may be in flight in this window: 0 while it rests, few while it is tried. */
  limitOf(subscription: Subscription, window: Pick<Window, 'inFlight'>): number
  attach(id: string, attached: Attached): () => void
  /** Of every subscription that this process or another has something to say of. */
  standings(): Iterable<{ readonly subscription: string; readonly isOnProbation: boolean; readonly parked: number }>
  /** What an attempt came to. A batch counts as its first event. */
  observe(subscription: Subscription, source: SourcePosition, result: AttemptResult): void
  /** Counts what was parked for the first time, and what has come to its end. */
  count(state: KnownState, verdict: Verdict): void
  /** Ends the probation by hand; what failed before `at` counts no more. */
  end(subscription: Subscription, at: number): void
  /** What this process says of a subscription. */
  recordOf(id: string): HealthRecord | null
  /** Another process has said something; or what this one said stands, or was taken away. */
  heard(change: { readonly subscription: string; readonly process: string; readonly isThere: boolean }): void
  /** Adds what processes that are gone have said to what this one says, and removes theirs. The leader of the group asks for it. */
  takeOver(id: string): Promise<void>
  /** The subscription was changed or deleted. */
  changed(id: string): void
  close(): void
}

/** A timer may be no longer, and clocks are corrected. */
const longestTimerMs = 3_600_000
const tellFailuresWithinMs = 1_000
const tellCountsWithinMs = 5_000

interface Entry {
  readonly id: string
  readonly generation: number
  sink: string
  endpoint: string
  own: Health
  /** Whether `own.lastSuccess` is worth telling: another process says that something failed. */
  isWanted: boolean
  toldSuccess: number | null
  /** Whether the others may know of `own.failing`. */
  hasToldFailing: boolean
  parkedIn: number
  parkedOut: number
  takenOver: readonly string[]
  /** What of the counts stands in the topic. */
  told: { readonly parkedIn: number; readonly parkedOut: number } | null
  present: Probation | null
  /** Since the probation; null when the window is whole again. */
  successes: number | null
  timer: NodeJS.Timeout | undefined
}

export function createProbations({ health, process, subscriptionOf, now }: ProbationsOptions): Probations {
  const entries = new Map<string, Entry>()
  const attached = new Map<string, Set<Attached>>()

  function entryOf({ id, generation, sink }: Pick<Subscription, 'id' | 'generation' | 'sink'>): Entry {
    const present = entries.get(id)
    if (present?.generation === generation) return present
    clearTimeout(present?.timer)
    const said = health.of(id).find((record) => record.process === process && record.generation === generation)
    const endpoint = endpointMark(sink)
    const own = said?.endpoint === endpoint ? healthOf(said) : healthy
    const entry: Entry = {
      id,
      generation,
      sink,
      endpoint,
      own,
      isWanted: false,
      toldSuccess: own.lastSuccess,
      hasToldFailing: own.failing !== null,
      parkedIn: said?.parkedIn ?? 0,
      parkedOut: said?.parkedOut ?? 0,
      takenOver: said?.takenOver ?? [],
      told: said ?? null,
      present: null,
      successes: null,
      timer: undefined,
    }
    entries.set(id, entry)
    look(entry)
    return entry
  }

  function othersOf({ id, generation }: Entry): readonly HealthRecord[] {
    return health.of(id).filter((record) => record.process !== process && record.generation === generation)
  }

  /** What they say of the endpoint that the subscription has now. */
  function healthOfOthers(entry: Entry): readonly Health[] {
    return othersOf(entry).filter((record) => isOf(entry, record))
  }

  /** What follows from everything that is known now. */
  function look(entry: Entry): void {
    const others = healthOfOthers(entry)
    const latest = entry.own.lastSuccess ?? -Infinity
    const told = entry.toldSuccess ?? -Infinity
    const begins = others
      .flatMap(({ failing, probation }) => [failing?.since ?? [], probation?.failingSince ?? []])
      .flat()
    entry.isWanted = begins.some((since) => since > told)
    if (begins.some((since) => since > told && latest >= since)) tellSuccess(entry, tellFailuresWithinMs)

    const hasPolicy = subscriptionOf(entry.id)?.probation != null
    const next = hasPolicy ? probationOf([entry.own, ...others]) : null
    if (!hasPolicy) entry.successes = null
    if (sameProbation(entry.present, next)) return
    entry.present = next
    if (next !== null) entry.successes = 0
    clearTimeout(entry.timer)
    if (next !== null) wakeAt(entry, next.until)
    announce(entry.id)
  }

  function wakeAt(entry: Entry, time: number): void {
    const remainingMs = time - now()
    if (remainingMs <= 0) return announce(entry.id)
    const wait = () => wakeAt(entry, time)
    entry.timer = setTimeout(wait, Math.min(Math.ceil(remainingMs), longestTimerMs)).unref()
  }

  function announce(id: string): void {
    for (const { window, onChange } of attached.get(id) ?? []) {
      onChange?.()
      window?.limitChanged()
    }
  }

  function tellSuccess(entry: Entry, withinMs: number): void {
    entry.toldSuccess = entry.own.lastSuccess
    entry.isWanted = false
    health.changed(entry.id, withinMs)
  }

  function restOf(subscription: Subscription): Probation | null {
    if (subscription.probation === null) return null
    const { present } = entryOf(subscription)
    return present !== null && now() < present.until ? present : null
  }

  function succeeded(entry: Entry, endedAt: number, concurrency: number): void {
    const { own, present, successes, hasToldFailing, isWanted } = entry
    entry.own = afterSuccess(own, endedAt)
    if (own.failing === null && present === null && own.probation === null && !isWanted && successes === null) return
    if (successes !== null) {
      entry.successes = trialWindow(successes + 1, concurrency) === null ? null : successes + 1
    }
    if (present !== null) tellSuccess(entry, 0)
    else if (hasToldFailing || isWanted) tellSuccess(entry, tellFailuresWithinMs)
    if (present !== null) look(entry)
    if (successes !== null) announce(entry.id)
  }

  function failed(entry: Entry, subscription: Subscription, source: SourcePosition, result: AttemptResult): void {
    const { probation } = subscription
    if (probation === null) return
    const failure = { ...result, event: eventMark(source) }
    const next = afterFailure(entry.own, healthOfOthers(entry), failure, probation)
    if (next === entry.own) return
    const hasBegun = next.probation !== entry.own.probation
    entry.own = next
    health.changed(entry.id, hasBegun ? 0 : tellFailuresWithinMs)
    if (hasBegun) look(entry)
  }

  function recordOf(id: string): HealthRecord | null {
    const entry = entries.get(id)
    if (entry === undefined) return null
    const { generation, endpoint, own, parkedIn, parkedOut } = entry
    entry.told = { parkedIn, parkedOut }
    entry.hasToldFailing = own.failing !== null
    const about = { subscription: id, process, generation, endpoint }
    return { ...about, ...own, lastSuccess: entry.toldSuccess, parkedIn, parkedOut, takenOver: entry.takenOver }
  }

  /** What the former endpoint did says nothing of this one. */
  function moved(entry: Entry, sink: string): void {
    Object.assign(entry, { sink, endpoint: endpointMark(sink), own: healthy, toldSuccess: null, successes: null })
    health.changed(entry.id, 0)
  }

  /** A leader took this process for gone, wrongly: what it had said is counted elsewhere now. */
  function takenAway(entry: Entry): void {
    entry.parkedIn -= entry.told?.parkedIn ?? 0
    entry.parkedOut -= entry.told?.parkedOut ?? 0
    entry.told = null
    health.changed(entry.id, tellCountsWithinMs)
  }

  function toldProbationOf(id: string): Probation | null {
    const entry = knownOf(id)
    if (entry === null || entry.present === null) return null
    const written = health.of(id).find((record) => record.process === process && isOf(entry, record))
    return probationOf([{ ...entry.own, probation: written?.probation ?? null }, ...healthOfOthers(entry)])
  }

  /** Whoever has just come has asked nothing yet, and is told what the others know. */
  function knownOf(id: string): Entry | null {
    const subscription = subscriptionOf(id)
    return subscription === null ? null : entryOf(subscription)
  }

  function parkedOf(id: string): number {
    const entry = knownOf(id)
    if (entry === null) return 0
    const all = [entry, ...othersOf(entry)]
    return Math.max(
      0,
      all.reduce((sum, { parkedIn, parkedOut }) => sum + parkedIn - parkedOut, 0),
    )
  }

  return {
    restOf,
    probationOf: toldProbationOf,
    parkedOf,
    *standings() {
      for (const id of new Set([...entries.keys(), ...health.subscriptions()])) {
        const entry = knownOf(id)
        if (entry === null) continue
        yield { subscription: id, isOnProbation: entry.present !== null, parked: parkedOf(id) }
      }
    },
    limitOf(subscription, window) {
      const { id, concurrency } = subscription
      if (subscription.probation === null) return concurrency
      const { present, successes } = entryOf(subscription)
      if (present !== null && now() < present.until) return 0
      const size = successes === null ? null : trialWindow(successes, concurrency)
      if (size === null) return concurrency
      const all = [...(attached.get(id) ?? [])].reduce((sum, each) => sum + (each.window?.inFlight ?? 0), 0)
      return Math.max(0, size - (all - window.inFlight))
    },
    attach(id, one) {
      const ofSubscription = attached.get(id) ?? new Set()
      attached.set(id, ofSubscription.add(one))
      return () => {
        ofSubscription.delete(one)
        if (ofSubscription.size === 0 && attached.get(id) === ofSubscription) attached.delete(id)
      }
    },
    observe(subscription, source, result) {
      if (subscription.probation === null) return
      const entry = entryOf(subscription)
      // It came from an endpoint that the subscription has no more.
      if (entry.sink !== subscription.sink) return
      if (result.outcome === 'Delivered') succeeded(entry, result.endedAt, subscription.concurrency)
      else if (isFailure(result)) failed(entry, subscription, source, result)
    },
    count(state, verdict) {
      const { subscriptionId, generation, hops } = state
      if (subscriptionId === undefined || generation === undefined || hops === undefined) return
      const subscription = subscriptionOf(subscriptionId)
      if (subscription?.generation !== generation) return
      const isWaiting = verdict.kind === 'retry' || verdict.kind === 'park' || verdict.kind === 'hold'
      // What waits already goes on waiting; what never waited is done.
      if (isWaiting === hops > 0) return
      const entry = entryOf(subscription)
      if (isWaiting) entry.parkedIn += 1
      else entry.parkedOut += 1
      health.changed(subscriptionId, tellCountsWithinMs)
      for (const { onParked } of attached.get(subscriptionId) ?? []) onParked?.()
    },
    end(subscription, at) {
      const entry = entryOf(subscription)
      if (entry.present === null) return
      entry.own = afterEndByHand(entry.own, at)
      health.changed(entry.id, 0)
      look(entry)
    },
    recordOf,
    heard({ subscription: id, process: by, isThere }) {
      const subscription = subscriptionOf(id)
      if (subscription === null) return
      const entry = entryOf(subscription)
      if (by === process && isThere) {
        if (entry.own.probation !== null) announce(id)
        return
      }
      if (by === process) takenAway(entry)
      entry.takenOver = entry.takenOver.filter((each) => each !== by || isThere)
      look(entry)
      for (const { onParked } of attached.get(id) ?? []) onParked?.()
    },
    async takeOver(id) {
      const subscription = subscriptionOf(id)
      const gone = health.of(id).filter((record) => health.isGone(record.process))
      const counted = new Set(health.of(id).flatMap((record) => record.takenOver))
      for (const record of gone) {
        if (subscription !== null && record.generation === subscription.generation && !counted.has(record.process)) {
          const entry = entryOf(subscription)
          if (record.endpoint === entry.endpoint) {
            entry.own = takenOver(entry.own, healthOf(record))
            entry.toldSuccess = entry.own.lastSuccess
          }
          entry.parkedIn += record.parkedIn
          entry.parkedOut += record.parkedOut
          entry.takenOver = [...entry.takenOver, record.process, ...record.takenOver].slice(-takenOverMax)
          // Only what stands may be removed there.
          if (!(await health.flush(id))) return
        }
        await health.remove(id, record.process)
      }
    },
    changed(id) {
      const entry = entries.get(id)
      const subscription = subscriptionOf(id)
      if (subscription !== null) {
        const present = entryOf(subscription)
        if (present.sink !== subscription.sink) moved(present, subscription.sink)
        look(present)
        return
      }
      if (entry === undefined) return
      clearTimeout(entry.timer)
      entries.delete(id)
      if (health.of(id).some((record) => record.process === process)) void health.remove(id, process)
    },
    close() {
      for (const { timer } of entries.values()) clearTimeout(timer)
    },
  }
}

function isOf({ generation, endpoint }: Pick<Entry, 'generation' | 'endpoint'>, record: HealthRecord): boolean {
  return record.generation === generation && record.endpoint === endpoint
}

function healthOf({ failing, lastSuccess, ended, probation }: HealthRecord): Health {
  return { failing, lastSuccess, ended, probation }
}

function sameProbation(one: Probation | null, other: Probation | null): boolean {
  if (one === null || other === null) return one === other
  return one.until === other.until && one.since === other.since && one.cause === other.cause
}
