import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import { createOldestParked } from './oldest-parked.ts'
import { addProbationGauges } from './probation-gauges.ts'
import type { Standing } from './probation-gauges.ts'
import { createTally } from './tally.ts'

/** What is counted, by the name of what happened; nobody else sees the library behind it. */
export interface Metrics {
  /** One more attempt under way, or one less. */
  attemptInFlight(subscription: string, change: 1 | -1): void
  /** An attempt that came to an outcome. */
  attempt(attempt: { readonly subscription: string; readonly outcome: string; readonly durationMs: number }): void
  /** The first attempt of an event: it has matched. */
  matched(subscription: string): void
  verdict(subscription: string, verdict: string): void
  /** A request of several events that was answered with 413. */
  batchSplit(subscription: string): void
  /** A retry that is not made, for its receiver took the event after all. */
  withdrawn(subscription: string): void
  /** An event, published then, that waits until `dueAt`; both in ms since the epoch. */
  parked(subscription: string, publishTime: number, dueAt: number): void
  deadLettered(subscription: string, reason: string): void
  /** An event that is given up without a dead letter. */
  dropped(subscription: string, reason: string): void
  /** A blob with so many dead letters of a subscription. */
  blobWritten(subscription: string, events: number): void
  /** So many dead letters that got into no blob. */
  blobGivenUp(subscription: string, reason: string, events: number): void
  /** So many dead letters that a target has taken. */
  carried(target: string, letters: number): void
  /** A dead letter that a target refuses for good. */
  refusedByTarget(target: string, subscription: string): void
  /** How far a target is behind, in records; null when nothing is carried to it any more. */
  targetLag(target: string, records: number | null): void
  /** An event that no filter of a subscription let through. */
  filtered(): void
  /** Offsets of a source topic that were gone before they could be read. */
  skipped(subscription: string, offsets: number): void
  /** How the subscriptions stand is asked for here from now on, at each scrape. */
  follow(standings: () => Iterable<Standing>): void
  /** How long after its due time an attempt began. */
  late(latenessMs: number): void
  /** Takes the series of a deleted subscription away; what still happens to its events is counted anew. */
  forgetSubscription(subscription: string): Promise<void>
  /** All of it in Prometheus' text format. */
  text(): Promise<string>
  readonly contentType: string
}

/** Ids on records come from anybody: beyond this many, what happens is counted under `(others)`. */
const subscriptionsMax = 10_000
const others = '(others)'

/** A registry of its own per call, never the library's global one, with the process's own metrics in it. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const named = (name: string, help: string, ...labels: string[]) => ({
    name: `barnabas_${name}`,
    help,
    labelNames: labels,
    registers,
  })

  const matchedTally = createTally()
  const matched = new Counter({
    ...named('events_matched_total', 'Events that a filter let through, with their first attempt.', 'subscription'),
    collect() {
      matchedTally.flush((subscription, _, count) => this.inc({ subscription }, count))
    },
  })
  const attemptTally = createTally()
  const attempts = new Counter({
    ...named('attempts_total', 'Attempts to deliver, by outcome.', 'subscription', 'outcome'),
    collect() {
      attemptTally.flush((subscription, outcome, count) => this.inc({ subscription, outcome }, count))
    },
  })
  const verdictTally = createTally()
  const countVerdicts = () =>
    verdictTally.flush((subscription, verdict, count) => {
      verdicts.inc({ subscription, verdict }, count)
      if (verdict === 'done') delivered.inc({ subscription }, count)
    })
  const verdicts: Counter = new Counter({
    ...named('verdicts_total', 'What was decided after an attempt.', 'subscription', 'verdict'),
    collect: countVerdicts,
  })
  const delivered: Counter = new Counter({
    ...named('events_delivered_total', 'Events that were delivered.', 'subscription'),
    collect: countVerdicts,
  })
  const batchesSplit = new Counter(
    named('batches_split_total', 'Requests of several events that a 413 split in halves.', 'subscription'),
  )
  const withdrawn = new Counter(
    named('retries_withdrawn_total', 'Retries not made, for a success came after the deadline.', 'subscription'),
  )
  const deadLetters = new Counter(named('dead_letters_total', 'Dead letters, by reason.', 'subscription', 'reason'))
  const dropped = new Counter(
    named('dropped_total', 'Events given up without a dead letter, by reason.', 'subscription', 'reason'),
  )
  const blobs = new Counter(named('dead_letter_blobs_total', 'Blobs with dead letters.', 'subscription'))
  const blobEvents = new Counter(
    named('dead_letter_blob_events_total', 'Dead letters written into blobs.', 'subscription'),
  )
  const blobGivenUp = new Counter(
    named('dead_letter_blob_given_up_total', 'Dead letters that got into no blob.', 'subscription', 'reason'),
  )
  const carried = new Counter(named('dead_letters_carried_total', 'Dead letters that a target has taken.', 'target'))
  const refusedByTarget = new Counter(
    named('dead_letters_refused_total', 'Dead letters that a target refuses for good.', 'target', 'subscription'),
  )
  const targetLag = new Gauge(
    named('dead_letter_target_lag', 'Records of dead-letter topics that a target is behind.', 'target'),
  )
  const filtered = new Counter(named('events_filtered_total', 'Events that a filter did not let through.'))
  const skipped = new Counter(
    named('skipped_offsets_total', 'Offsets that were gone before they could be read.', 'subscription'),
  )
  const durations = new Histogram({
    ...named('attempt_duration_seconds', 'Duration of an attempt, to the outcome.', 'subscription'),
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  })
  /** Labels whose number of attempts under way has changed since somebody read it. */
  const changed = new Set<string>()
  const inFlight = new Gauge({
    ...named('attempts_in_flight', 'Attempts under way.', 'subscription'),
    collect() {
      for (const subscription of changed) this.set({ subscription }, inFlightByLabel.get(subscription) ?? 0)
      changed.clear()
    },
  })
  const oldest = createOldestParked()
  const oldestAge = new Gauge({
    ...named('oldest_parked_event_age_seconds', 'Age of the oldest event that waits for a retry.', 'subscription'),
    collect() {
      for (const [subscription, ageMs] of oldest.ages(Date.now())) {
        if (ageMs === null) this.remove({ subscription })
        else this.set({ subscription }, ageMs / 1000)
      }
    },
  })
  const lateness = new Histogram({
    ...named('lateness_seconds', 'Time from the moment an attempt was due until it began.'),
    buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1800],
  })
  collectDefaultMetrics({ register: registry })

  /** Attempts under way by label, and with it the labels in use: a subscription stays in it until it is forgotten. */
  const inFlightByLabel = new Map<string, number>()
  const labelOf = (subscription: string): string => {
    if (inFlightByLabel.has(subscription)) return subscription
    if (inFlightByLabel.size >= subscriptionsMax) return others
    inFlightByLabel.set(subscription, 0)
    return subscription
  }
  const changeInFlight = (label: string, change: 1 | -1): void => {
    inFlightByLabel.set(label, (inFlightByLabel.get(label) ?? 0) + change)
    changed.add(label)
  }

  let standings: () => Iterable<Standing> = () => []
  addProbationGauges({ registry, labelOf, standings: () => standings() })

  return {
    contentType: registry.contentType,
    text: () => registry.metrics(),
    attemptInFlight(subscription, change) {
      if (change === 1) return changeInFlight(labelOf(subscription), 1)
      // An attempt may end after its subscription was forgotten: it was counted elsewhere then, or no more.
      if ((inFlightByLabel.get(subscription) ?? 0) > 0) changeInFlight(subscription, -1)
      else if ((inFlightByLabel.get(others) ?? 0) > 0) changeInFlight(others, -1)
    },
    attempt({ subscription, outcome, durationMs }) {
      const label = labelOf(subscription)
      attemptTally.add(label, outcome)
      durations.observe({ subscription: label }, durationMs / 1000)
    },
    matched: (subscription) => matchedTally.add(labelOf(subscription), ''),
    batchSplit: (subscription) => batchesSplit.inc({ subscription: labelOf(subscription) }),
    withdrawn: (subscription) => withdrawn.inc({ subscription: labelOf(subscription) }),
    parked: (subscription, publishTime, dueAt) => oldest.add(labelOf(subscription), publishTime, dueAt, Date.now()),
    verdict: (subscription, verdict) => verdictTally.add(labelOf(subscription), verdict),
    deadLettered: (subscription, reason) => deadLetters.inc({ subscription: labelOf(subscription), reason }),
    dropped: (subscription, reason) => dropped.inc({ subscription: labelOf(subscription), reason }),
    blobWritten(subscription, events) {
      blobs.inc({ subscription: labelOf(subscription) })
      blobEvents.inc({ subscription: labelOf(subscription) }, events)
    },
    carried: (target, letters) => carried.inc({ target }, letters),
    targetLag(target, records) {
      if (records === null) targetLag.remove({ target })
      else targetLag.set({ target }, records)
    },
    refusedByTarget: (target, subscription) => refusedByTarget.inc({ target, subscription: labelOf(subscription) }),
    blobGivenUp: (subscription, reason, events) =>
      blobGivenUp.inc({ subscription: labelOf(subscription), reason }, events),
    filtered: () => filtered.inc(),
    follow: (asked) => void (standings = asked),
    skipped: (subscription, offsets) => skipped.inc({ subscription: labelOf(subscription) }, offsets),
    late: (latenessMs) => lateness.observe(Math.max(0, latenessMs) / 1000),
    async forgetSubscription(subscription) {
      inFlightByLabel.delete(subscription)
      oldest.forget(subscription)
      const counted = [matched, attempts, verdicts, delivered, batchesSplit, withdrawn, deadLetters, dropped, skipped]
      for (const metric of [...counted, blobs, blobEvents, blobGivenUp, refusedByTarget, inFlight, oldestAge]) {
        const { values } = await metric.get()
        for (const { labels } of values) if (labels['subscription'] === subscription) metric.remove(labels)
      }
      durations.remove({ subscription })
    },
  }
}
