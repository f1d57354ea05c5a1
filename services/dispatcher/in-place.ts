import { newDeliveryState, placeText, restedMs } from '@barnabas/core'
import type { InPlaceEvent, KafkaRecord, SourcePosition, StatusRecord, Subscription, Verdict } from '@barnabas/core'
import type { CarriedOut, HoldablePartition, NoRequest } from '@barnabas/delivery'
import type { InPlaceEvents } from '@barnabas/host'

/**
 * The events of one subscription that stay where they are, in this process's partitions (rows B4, B5):
 *
 *     failed ──► written to `barnabas.progress`, its partition held ──► waiting ── due ──► attempted ──► done
 *                                                                          ▲                  │ └──► waiting
 *                                                                        start                └──► exhausted
 *                                                                          │                            │
 *                                     dead letter, offset committed ◄─ skip ┴──────── blocked ◄──────────┘
 *
 * A held partition is read no further, but stays with its consumer; it goes on once nothing of it stays any more. What
 * was read of it and not begun is read again then. A waiting event costs its number of attempts and its due time; its
 * record is read again when it is due, unless it is small and the others are too (`keptBytesMax`).
 */
export interface InPlace {
  /** Before anything of the partition is handed over: takes up what an earlier owner has left. */
  gained(partition: HoldablePartition): void
  lost(partition: HoldablePartition): void
  /** No record of the partition may be begun. */
  holds(partition: HoldablePartition): boolean
  /** A record of it is about to be kept. */
  hold(partition: HoldablePartition): void
  /** Its verdict was to stay where it is. `lane`: in which it is the first (`OrderLanes`), null for none. */
  keep(partition: HoldablePartition, record: KafkaRecord, event: InPlaceEvent, lane: string | null): void
  /** Whether the record that was handed over is one that stays, and was left by an earlier owner; now it is in this lane. */
  claim(partition: HoldablePartition, offset: number, lane: string | null): boolean
  /** How many stay. */
  readonly count: number
  /** An attempt may be made again, or an operator has said something. */
  look(): void
  close(): void
}

/** One whose turn has come. */
export interface DueInPlace {
  readonly partition: HoldablePartition
  readonly record: KafkaRecord
  readonly event: InPlaceEvent
}

export interface InPlaceOptions {
  readonly subscription: () => Subscription
  readonly status: () => StatusRecord | null
  readonly events: Pick<InPlaceEvents, 'inPlaceOf' | 'keepInPlace' | 'removeInPlace'>
  /** Whether an attempt may be made now; whoever makes it true again calls `look`. */
  readonly mayAttempt: () => boolean
  /** The first that an operator has said of this block. */
  readonly resolutionOf: (event: InPlaceEvent) => 'start' | 'skip' | null
  /** Attempts it as soon as the window has a place; `onDropped` when it will not come to that. */
  readonly attempt: (
    due: DueInPlace,
    concluded: (carried: CarriedOut | NoRequest) => void,
    onDropped: () => void,
  ) => void
  /** Carries out what needs no attempt. */
  readonly settle: (
    verdict: Verdict,
    due: Omit<DueInPlace, 'record'> & { readonly record: Pick<KafkaRecord, 'key' | 'value' | 'headers'> },
  ) => Promise<CarriedOut>
  /** Null where retention has removed it. */
  readonly readRecord: (at: SourcePosition) => Promise<KafkaRecord | null>
  /** One that stayed is over; its lane may go on. */
  readonly onOver: (partition: HoldablePartition, lane: string) => void
  readonly copyOf: (record: KafkaRecord) => KafkaRecord
  readonly bytesOf: (record: KafkaRecord) => number
  readonly now: () => number
  readonly logger: { warn(fields: object, message: string): void }
}

interface Entry {
  event: InPlaceEvent
  record: KafkaRecord | null
  lane: string | null
  isBusy: boolean
}

interface Place {
  readonly partition: HoldablePartition
  readonly entries: Map<number, Entry>
  /** How many are about to be kept. */
  expected: number
  /** Whether nothing more is read of it: with `order: key` other keys go on. */
  readonly isHeld: boolean
  timer: NodeJS.Timeout | undefined
}

/** Records that are kept in memory while they wait, of one subscription. */
const keptBytesMax = 256 * 1024
/** No timer is set for longer (design, "Tiers"). */
const timerMsMax = 3_600_000
const readAgainMs = 1_000

export function createInPlace(options: InPlaceOptions): InPlace {
  const { events, mayAttempt, now, logger } = options
  const places = new Map<HoldablePartition, Place>()
  /** One record is read after the other, on one connection. */
  let reading: Promise<unknown> = Promise.resolve()
  let keptBytes = 0
  let closed = false

  function placeOf(partition: HoldablePartition): Place {
    const known = places.get(partition)
    if (known !== undefined) return known
    const isHeld = options.subscription().order !== 'key'
    const place: Place = { partition, entries: new Map(), expected: 0, isHeld, timer: undefined }
    places.set(partition, place)
    if (isHeld) partition.hold()
    return place
  }

  function schedule(place: Place): void {
    clearTimeout(place.timer)
    const { partition, entries } = place
    if (closed || partition.lost || places.get(partition) !== place) return
    if (entries.size === 0 && place.expected > 0) return
    if (entries.size === 0) {
      places.delete(partition)
      partition.release()
      return
    }
    let next = Infinity
    for (const entry of entries.values()) if (!entry.isBusy) next = Math.min(next, step(place, entry))
    if (next === Infinity) return
    place.timer = setTimeout(() => schedule(place), Math.min(Math.max(0, next - now()), timerMsMax)).unref()
  }

  /** Does with the event what may be done now; when something is to be done of which the time alone decides, that time. */
  function step(place: Place, entry: Entry): number {
    const { standing } = entry.event
    if (standing.kind === 'waiting') {
      if (!mayAttempt()) return Infinity
      if (standing.dueAt > now()) return standing.dueAt
      work(place, entry, () => attempt(place, entry))
      return Infinity
    }
    const resolution = options.resolutionOf(entry.event)
    if (resolution === 'start') work(place, entry, () => startAnew(place, entry))
    else if (resolution === 'skip')
      work(place, entry, () => settle(place, entry, { kind: 'dead-letter', reason: 'SkippedByOperator' }))
    else if (options.subscription().faultTolerance !== 'prohibited') work(place, entry, () => giveUp(place, entry))
    return Infinity
  }

  function work(place: Place, entry: Entry, doIt: () => Promise<void>): void {
    entry.isBusy = true
    doIt().catch((error: unknown) => {
      const { source } = entry.event.state
      logger.warn(
        { ...source, error: String(error) },
        'an event that is retried in place cannot be taken up; trying again',
      )
      setTimeout(() => freed(place, entry), readAgainMs).unref()
    })
  }

  function freed(place: Place, entry: Entry): void {
    entry.isBusy = false
    schedule(place)
  }

  async function attempt(place: Place, entry: Entry): Promise<void> {
    const record = await recordOf(entry)
    const { partition } = place
    if (partition.lost || closed) return
    if (!mayAttempt()) return freed(place, entry)
    if (record === null) return gone(place, entry)
    const event = expiringLater(entry.event)
    options.attempt(
      { partition, record, event },
      (carried) => concluded(place, entry, carried, record),
      () => (entry.isBusy = false),
    )
  }

  /** Time that it rests for no fault of its own does not use up its time to live. */
  function expiringLater(event: InPlaceEvent): InPlaceEvent {
    const { state } = event
    if (state.expiryTime === null) return event
    const rested = restedMs(options.status(), state.generation, event.at, now())
    return { ...event, state: { ...state, expiryTime: state.expiryTime + rested } }
  }

  /** A fresh schedule, counted as a redrive (design, "Fault tolerance"). */
  async function startAnew(place: Place, entry: Entry): Promise<void> {
    const { state, eventId } = entry.event
    const { source, publishTime, redrives } = state
    const at = now()
    const anew: InPlaceEvent = {
      state: { ...newDeliveryState(options.subscription(), source, publishTime), redrives: redrives + 1 },
      eventId,
      standing: { kind: 'waiting', dueAt: at },
      at,
    }
    if (!(await events.keepInPlace(anew, place.partition))) return
    entry.event = anew
    freed(place, entry)
  }

  /** Its subscription was changed, and goes on without what is exhausted (row B4). */
  async function giveUp(place: Place, entry: Entry): Promise<void> {
    const { standing } = entry.event
    if (standing.kind !== 'blocked') return
    const { reason } = standing
    const kind = options.subscription().deadLetter === null ? 'drop' : 'dead-letter'
    await settle(place, entry, { kind, reason })
  }

  async function settle(place: Place, entry: Entry, verdict: Verdict): Promise<void> {
    const record = await recordOf(entry)
    const { partition } = place
    if (partition.lost || closed) return
    if (record !== null) {
      return concluded(place, entry, await options.settle(verdict, { partition, record, event: entry.event }), null)
    }
    const { state } = entry.event
    const lastError = `the record ${placeText(state.source)} was removed from its topic before it was given up`
    const event = { ...entry.event, state: { ...state, lastError } }
    const carried = await options.settle(verdict, { partition, record: { key: null, value: null, headers: {} }, event })
    if (carried.kind === 'durable') handBack(place, entry)
  }

  function concluded(place: Place, entry: Entry, carried: CarriedOut | NoRequest, record: KafkaRecord | null): void {
    entry.isBusy = false
    if (carried.kind === 'durable') return finish(place, entry, carried.wroteRecord)
    if (carried.kind !== 'in-place') return
    entry.event = carried.event
    keepRecord(entry, record)
    schedule(place)
  }

  /** Retention was faster, or its topic was made anew: nobody can attempt it any more. */
  function gone(place: Place, entry: Entry): void {
    const { source } = entry.event.state
    logger.warn({ ...source }, 'the record of an event that was retried in place was removed from its topic')
    handBack(place, entry)
  }

  /** What stands at its offset, if anything does, is another event's: reading goes on there, and counts what is gone. */
  function handBack(place: Place, entry: Entry): void {
    leave(place, entry, (offset) => place.partition.handBack(offset))
    events.removeInPlace(entry.event.state)
    schedule(place)
  }

  function finish(place: Place, entry: Entry, wroteRecord: boolean): void {
    const { partition } = place
    leave(place, entry, (offset) => partition.finishAt(offset, wroteRecord))
    void partition.committedAll().then((isCommitted) => {
      if (isCommitted) events.removeInPlace(entry.event.state)
    })
    schedule(place)
  }

  function leave(place: Place, entry: Entry, release: (offset: number) => void): void {
    const { offset } = entry.event.state.source
    forgetRecord(entry)
    place.entries.delete(offset)
    release(offset)
    if (entry.lane !== null) options.onOver(place.partition, entry.lane)
  }

  function forget(partition: HoldablePartition): void {
    const place = places.get(partition)
    if (place === undefined) return
    places.delete(partition)
    clearTimeout(place.timer)
    place.entries.forEach(forgetRecord)
  }

  function keepRecord(entry: Entry, record: KafkaRecord | null): void {
    forgetRecord(entry)
    if (record === null || entry.event.standing.kind === 'blocked') return
    const bytes = options.bytesOf(record)
    if (keptBytes + bytes > keptBytesMax) return
    keptBytes += bytes
    entry.record = options.copyOf(record)
  }

  function forgetRecord(entry: Entry): void {
    if (entry.record !== null) keptBytes -= options.bytesOf(entry.record)
    entry.record = null
  }

  async function recordOf(entry: Entry): Promise<KafkaRecord | null> {
    if (entry.record !== null) return entry.record
    const { source, publishTime } = entry.event.state
    const read = reading.then(() => options.readRecord(source))
    reading = read.catch(() => undefined)
    const record = await read
    // Of a topic that was made anew it is another event.
    return record?.timestamp === publishTime ? record : null
  }

  return {
    gained(partition) {
      // Of a topic that was made anew there was a former one.
      const former = [...places.keys()].find(
        (each) => each.topic === partition.topic && each.partition === partition.partition,
      )
      if (former !== undefined) forget(former)
      const { id, generation } = options.subscription()
      const left = events
        .inPlaceOf(id, generation)
        .filter(({ state: { source } }) => source.topic === partition.topic && source.partition === partition.partition)
      for (const event of left) {
        const { offset } = event.state.source
        if (offset < partition.start || partition.wasDone(offset)) events.removeInPlace(event.state)
        else placeOf(partition).entries.set(offset, { event, record: null, lane: null, isBusy: false })
      }
      const place = places.get(partition)
      if (place !== undefined) schedule(place)
    },
    lost: forget,
    holds: (partition) => places.get(partition)?.isHeld ?? false,
    hold(partition) {
      placeOf(partition).expected += 1
    },
    keep(partition, record, event, lane) {
      const place = placeOf(partition)
      place.expected = Math.max(0, place.expected - 1)
      const entry: Entry = { event, record: null, lane, isBusy: false }
      place.entries.set(event.state.source.offset, entry)
      keepRecord(entry, record)
      schedule(place)
    },
    claim(partition, offset, lane) {
      const entry = places.get(partition)?.entries.get(offset)
      if (entry === undefined) return false
      entry.lane = lane
      return true
    },
    get count() {
      return [...places.values()].reduce((sum, { entries }) => sum + entries.size, 0)
    },
    look: () => [...places.values()].forEach(schedule),
    close() {
      closed = true
      for (const { timer } of places.values()) clearTimeout(timer)
    },
  }
}
