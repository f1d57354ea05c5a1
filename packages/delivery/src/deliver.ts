import {
  afterAttempt,
  blobTargetText,
  targetText,
  countedAttempts,
  destinationForDisplay,
  lateAnswerWithinMs,
  obeyingRetryAfter,
  verdictAfterAttempt,
  verdictOnProbation,
  verdictWhenDue,
  verdictWithoutRequest,
} from '@barnabas/core'
import type {
  AttemptReport,
  AttemptResult,
  CloudEvent,
  DeadLetter,
  Handling,
  KnownState,
  Probation,
  RequestShape,
  SourcePosition,
  Subscription,
  Verdict,
} from '@barnabas/core'
import { writeDeadLetter } from './carry-out.ts'
import type { CarriedOut, CarryOut, DeadLetterDetails, NoRequest, Parcel } from './carry-out.ts'
import { createTogether } from './deliver-together.ts'
import { awaitLateAnswer } from './late-answers.ts'
import type { LateSuccesses } from './late-answers.ts'
import type { Logger } from './logger.ts'
import type { Owner } from './owner.ts'
import type { Rates } from './rates.ts'
import type { Writers } from './writers.ts'

/** Makes exactly one attempt with a non-empty list of events and reports it as a value. Never throws. */
export interface Sender {
  attempt(
    events: readonly [CloudEvent, ...CloudEvent[]],
    options: {
      readonly url: string
      readonly shape: RequestShape
      readonly attemptNumber: number
      /** Of one event alone. */
      readonly source: SourcePosition | undefined
      /** Of the record that the first event came in. */
      readonly key: Buffer | null
      readonly timeoutMs: number
      readonly lateMs: number
      readonly connectionsMax: number
      readonly signal: AbortSignal
    },
  ): Promise<AttemptReport>
}

export interface Delivery {
  readonly subscription: Subscription
  readonly event: CloudEvent
  readonly parcel: Parcel
  /** The partition that it was read from. */
  readonly owner: Owner
  /** When this attempt was due, null for the first. */
  readonly dueAt: number | null
  /** It stays where it is until it is delivered, or its subscription goes on without it; else its retries leave for the tiers. */
  readonly inPlace?: boolean
  /** It failed, and stays: told before that is written down. */
  readonly onStays?: () => void
  /** Cuts the attempt off: it is counted, is `Canceled`, and its verdict is still carried out. */
  readonly signal: AbortSignal
}

/** What is told about each event whose verdict was carried out, with or without an attempt. */
export interface DeliveryReport {
  readonly state: KnownState
  readonly event: CloudEvent | null
  readonly subscription: Subscription | null
  /** Null when there was no attempt. */
  readonly result: AttemptResult | null
  readonly verdict: Verdict
  /** How long after its due time the attempt began, null for a first attempt or none. */
  readonly latenessMs: number | null
}

export interface DeliverOptions {
  readonly sender: Sender
  readonly writers: Writers
  readonly carryOut: CarryOut
  readonly now: () => number
  readonly random: () => number
  readonly defaultDeadLetterTopic: string
  /** The newest revision of the same life of a subscription, null once it was deleted. */
  readonly presentOf: (subscription: Subscription) => Subscription | null
  readonly onAttempt: (subscriptionId: string, change: 1 | -1) => void
  /** What an attempt came to, as soon as it is known. */
  readonly onResult?: (subscription: Subscription, source: SourcePosition, result: AttemptResult) => void
  /** A batch of several was answered with 413 and travels again in halves; told of each half that is split again. */
  readonly onSplit?: (subscriptionId: string) => void
  readonly report: (report: DeliveryReport) => void
  readonly lateSuccesses: LateSuccesses
  /** Where the number of requests is limited. */
  readonly rates?: Pick<Rates, 'turn' | 'giveBack'>
  readonly logger: Logger
}

export interface Deliverer {
  /** Attempt → outcome → verdict → carried out. The first attempt is always made; later ones unless the time to live is over. */
  deliver(delivery: Delivery): Promise<CarriedOut | NoRequest>
  /**
   * The same for events that share one request: of one revision of one subscription and with one signal. Its outcome is
   * carried out for each of them apart, with its own number of attempts, and told as soon as that is done.
   */
  deliverTogether<Each extends Delivery>(
    deliveries: readonly Each[],
    onCarriedOut: (delivery: Each, carried: CarriedOut | NoRequest) => void,
  ): Promise<void>
  /** What becomes of a due retry whose endpoint is on probation. */
  skip(parcel: Parcel, subscription: Subscription, probation: Probation, owner: Owner): Promise<CarriedOut>
  /** Carries out a verdict that needs no attempt (damage, deletion, parking) and reports it. */
  settle(verdict: Verdict, parcel: Parcel, about: SettledWithoutAttempt, owner: Owner): Promise<CarriedOut>
  /** Dead-letters a retry record whose delivery headers are damaged: only some of its state is known. */
  settleDamaged(letter: Omit<DeadLetter, 'topic'>, subscription: Subscription | null, owner: Owner): Promise<CarriedOut>
}

export interface SettledWithoutAttempt {
  readonly subscription: Subscription | null
  readonly event: CloudEvent | null
}

export function createDeliverer(options: DeliverOptions): Deliverer {
  const { sender, carryOut, now, random, report } = options

  async function deliver(delivery: Delivery): Promise<CarriedOut | NoRequest> {
    const { subscription, event, parcel, owner } = delivery
    const over = verdictWithoutAttempt(delivery)
    if (over !== null) {
      options.rates?.giveBack(subscription.id)
      return settle(over, parcel, { subscription, event }, owner)
    }

    options.onAttempt(subscription.id, 1)
    let result: AttemptReport
    try {
      result = await sender.attempt([event], attemptOptions(delivery, parcel.state.attempts + 1, parcel.state.source))
    } finally {
      options.onAttempt(subscription.id, -1)
    }
    if (result.isNoRequest !== true) options.onResult?.(subscription, parcel.state.source, result)
    return conclude(delivery, result, random())
  }

  /** Null when an attempt may be made. The first one always may; a later one unless its receiver took the event after all. */
  function verdictWithoutAttempt({ subscription, parcel: { state }, inPlace }: Delivery): Verdict | null {
    if (state.attempts === 0) return null
    if (options.lateSuccesses.lateSuccessOf(state) !== null) return { kind: 'done' }
    const counted = { ...state, attempts: countedAttempts(state, subscription.retry) }
    return verdictWhenDue(counted, subscription.retry, now(), handlingOf(subscription, inPlace))
  }

  /** What follows from an attempt for one of its events. `chance` is in [0, 1), and the same for all of one attempt. */
  function conclude(
    delivery: Delivery,
    result: AttemptReport,
    chance: number,
  ): CarriedOut | NoRequest | Promise<CarriedOut> {
    const { subscription, event, parcel, owner, dueAt } = delivery
    if (result.isNoRequest === true) return withoutRequest(delivery, result.error ?? '')
    const state = afterAttempt(parcel.state, result, subscription.retry)
    const attempts = countedAttempts(state, subscription.retry)
    const handling = handlingOf(subscription, delivery.inPlace)
    const scheduled = verdictAfterAttempt(result, attempts, subscription.retry, handling, chance)
    const verdict = obeyingRetryAfter(scheduled, result, state.expiryTime)
    if (result.lateAnswer !== undefined && verdict.kind === 'retry') {
      void awaitLateAnswer(result.lateAnswer, state, options.lateSuccesses, options.logger)
    }
    if (verdict.kind === 'retry-in-place' || verdict.kind === 'block') delivery.onStays?.()
    const details = (): DeadLetterDetails => deadLetterDetails(subscription, result)
    const latenessMs = dueAt === null ? null : result.startedAt - dueAt
    const about = { state, event, subscription, result, latenessMs }
    const carried = carryOut(verdict, { record: parcel.record, state, eventId: idOf(event) }, details, owner)
    return carried instanceof Promise ? carried.then((written) => reported(written, about)) : reported(carried, about)
  }

  /** Neither an attempt nor an outcome: what there was of both stays as it was. */
  function withoutRequest(delivery: Delivery, message: string): NoRequest | Promise<CarriedOut> {
    const { subscription, event, parcel, owner } = delivery
    const verdict = verdictWithoutRequest(subscription, handlingOf(subscription, delivery.inPlace))
    if (verdict === null) return { kind: 'no-request', message }
    const state = { ...parcel.state, lastError: message }
    return settle(verdict, { ...parcel, state }, { subscription, event }, owner)
  }

  async function skip(parcel: Parcel, subscription: Subscription, probation: Probation, owner: Owner) {
    const { retry, probation: policy } = subscription
    if (policy === null) throw new TypeError(`${subscription.id} knows no probation`)
    const handling = handlingOf(subscription, false)
    if (options.lateSuccesses.lateSuccessOf(parcel.state) !== null) {
      return settle({ kind: 'done' }, parcel, { subscription, event: null }, owner)
    }
    const skipped = verdictOnProbation(parcel.state, retry, handling, { probation, policy }, now(), random())
    return settle(skipped.verdict, { ...parcel, state: skipped.state }, { subscription, event: null }, owner)
  }

  async function settle(
    verdict: Verdict,
    parcel: Parcel,
    { subscription, event }: SettledWithoutAttempt,
    owner: Owner,
  ): Promise<CarriedOut> {
    const details = deadLetterDetails(subscription, null)
    const toCarryOut = unlessItFeedsItself(verdict, subscription, details)
    const carried = await carryOut(toCarryOut, { ...parcel, eventId: idOf(event) }, () => details, owner)
    return reported(carried, { state: parcel.state, event, subscription, result: null, latenessMs: null })
  }

  async function settleDamaged(
    letter: Omit<DeadLetter, 'topic'>,
    subscription: Subscription | null,
    owner: Owner,
  ): Promise<CarriedOut> {
    const details = deadLetterDetails(subscription, null)
    const verdict = unlessItFeedsItself({ kind: 'dead-letter', reason: letter.reason }, subscription, details)
    const carried =
      verdict.kind === 'drop'
        ? ({ kind: 'durable', wroteRecord: false, verdict } as const)
        : await writeDeadLetter(options.writers, { ...letter, ...details }, verdict, owner)
    return reported(carried, { state: letter.state, event: null, subscription, result: null, latenessMs: null })
  }

  function reported(carried: CarriedOut, about: Omit<DeliveryReport, 'verdict'>): CarriedOut {
    if (carried.kind === 'durable' || carried.kind === 'in-place') report({ ...about, verdict: carried.verdict })
    return carried
  }

  function deadLetterDetails(subscription: Subscription | null, result: AttemptResult | null): DeadLetterDetails {
    const { defaultDeadLetterTopic, presentOf } = options
    if (subscription === null) return { topic: () => defaultDeadLetterTopic }
    const { responseBody: keepsBody = true, blob, target } = subscription.deadLetter ?? {}
    return {
      topic: () => presentOf(subscription)?.deadLetter?.topic ?? defaultDeadLetterTopic,
      destination: destinationOf(subscription),
      responseBody: keepsBody ? (result?.responseBody ?? null) : null,
      ...(blob === undefined ? {} : { blob: blobTargetText(blob) }),
      ...(target === undefined ? {} : { target: targetText(target) }),
    }
  }

  const deliverTogether = createTogether<Delivery>({
    async attempt(deliveries) {
      const [{ subscription, event, parcel: first }, ...others] = deliveries
      const lowest = Math.min(...deliveries.map(({ parcel }) => parcel.state.attempts))
      options.onAttempt(subscription.id, 1)
      try {
        const events = [event, ...others.map((other) => other.event)] as const
        const result = await sender.attempt(events, attemptOptions(deliveries[0], lowest + 1))
        // That several events are too much together says nothing of the endpoint.
        const isSplit = result.status === 413 && others.length > 0
        if (isSplit) options.onSplit?.(subscription.id)
        else if (result.isNoRequest !== true) options.onResult?.(subscription, first.state.source, result)
        return result
      } finally {
        options.onAttempt(subscription.id, -1)
      }
    },
    verdictWithoutAttempt,
    settle: (verdict, { parcel, subscription, event, owner }) =>
      settle(verdict, parcel, { subscription, event }, owner),
    conclude,
    random,
    turn: async ({ subscription, signal }) => options.rates?.turn(subscription.id, signal) ?? true,
    giveBack: ({ subscription }) => options.rates?.giveBack(subscription.id),
  })

  return { deliver, deliverTogether, skip, settle, settleDamaged }
}

function attemptOptions({ subscription, parcel, signal }: Delivery, attemptNumber: number, source?: SourcePosition) {
  return {
    url: subscription.sink,
    shape: subscription,
    attemptNumber,
    source,
    key: parcel.record.key,
    timeoutMs: subscription.timeoutMs,
    lateMs: lateAnswerWithinMs * subscription.retry.timeScale,
    connectionsMax: subscription.concurrency,
    signal,
  }
}

function idOf(event: CloudEvent | null): string | null {
  return event?.attributes.get('id') ?? null
}

const destinations = new WeakMap<Subscription, string>()

/** Once per revision of a subscription, because reading a URL costs as much as the rest of a verdict. */
function destinationOf(subscription: Subscription): string {
  const known = destinations.get(subscription)
  if (known !== undefined) return known
  const destination = destinationForDisplay(subscription.sink)
  destinations.set(subscription, destination)
  return destination
}

/** What is in tiers has left its place, and follows `allowed` whatever its subscription says (design, "Fault tolerance"). */
function handlingOf(subscription: Subscription, inPlace = false): Handling {
  const deadLettering = subscription.deadLetter !== null
  if (!inPlace) return { faultTolerance: 'allowed', order: 'none', deadLettering }
  const { faultTolerance = 'allowed', order = 'none' } = subscription
  return { faultTolerance, order, deadLettering }
}

/**
 * Damage becomes a dead letter also with `deadLetter: none`, in the default topic; where the subscription reads that
 * very topic it would be fed with its own dead letters for ever, so there the record is dropped and counted.
 */
function unlessItFeedsItself(
  verdict: Verdict,
  subscription: Subscription | null,
  { topic }: DeadLetterDetails,
): Verdict {
  if (verdict.kind !== 'dead-letter' || subscription === null || !subscription.topics.includes(topic())) return verdict
  return { kind: 'drop', reason: verdict.reason }
}
