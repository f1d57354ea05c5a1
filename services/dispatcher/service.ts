import { awaitsHandshake, blockedText, factsOfLife, mergedFacts, stopsWithoutRequest } from '@barnabas/core'
import type { Command, Names, PauseFacts, StatusRecord, Subscription, WantedStatus } from '@barnabas/core'
import { createDoubledRecords, createReadBudget, readBytesMax } from '@barnabas/delivery'
import type { Deliverer, Logger, Probations, Rates } from '@barnabas/delivery'
import { ConsumerStartError } from '@barnabas/kafka'
import type { KafkaClient } from '@barnabas/kafka'
import type { InPlaceEvents } from '@barnabas/host'
import { readHeld } from './held-reader.ts'
import { createHeldReaders } from './held-readers.ts'
import type { HeldWish } from './held-readers.ts'
import type { Deletions } from './deletions.ts'
import type { Handshakes } from './handshakes.ts'
import { createRecreations } from './recreations.ts'
import { createResolutions } from './resolutions.ts'
import { createSpoken } from './spoken.ts'
import { runSubscription } from './running-subscription.ts'
import type { FailureCode, FoundOfGroup } from './running-subscription.ts'
import { createSubscriptionRunner } from './subscription-runner.ts'
import type { Desired, SubscriptionRunner } from './subscription-runner.ts'

/** What a subscription id stands for right now; undefined when it was deleted or never made. */
export type SubscriptionEntry =
  | { readonly kind: 'valid'; readonly subscription: Subscription }
  | { readonly kind: 'invalid'; readonly reason: string; readonly generation: number; readonly revision: number }

/** What a status should say; the store knows the time. */
export type StatusWrite = Omit<WantedStatus, 'now'>

export interface DispatcherOptions {
  readonly kafka: KafkaClient
  readonly names: Names
  readonly deliverer: Deliverer
  readonly probations: Probations
  readonly rates: Rates
  readonly subscriptions: {
    ids(): readonly string[]
    get(id: string): SubscriptionEntry | undefined
    /** Resolves when the subscriptions topic was read to its present end. */
    caughtUp(): Promise<void>
  }
  readonly statuses: {
    get(id: string): StatusRecord | null
    all(): readonly StatusRecord[]
    write(id: string, wanted: StatusWrite): Promise<void>
    remove(id: string): Promise<void>
  }
  /** Why this process cannot make any request of a subscription, null when it can; asked again every two seconds. */
  readonly problemOf: (subscription: Subscription) => string | null
  /** The same of its sink alone, asked where that is; null too when nobody answers in time. */
  readonly lookAtSink: (sink: string) => Promise<string | null>
  readonly handshakes: Pick<Handshakes, 'make'>
  readonly deletions: Pick<Deletions, 'tell'>
  readonly inPlaceEvents: InPlaceEvents
  readonly isBlocked: (subscription: Subscription) => boolean
  readonly onFiltered: (subscriptionId: string) => void
  readonly onSkipped: (subscriptionId: string, offsets: number) => void
  readonly drainTimeoutMs: number
  readonly sessionTimeoutMs: number
  readonly timeScale: number
  readonly now: () => number
  readonly logger: Logger
}

export interface Dispatcher {
  /** The subscription was created, changed or deleted. */
  changed(id: string): void
  /** The status of the subscription is another. */
  statusChanged(id: string): void
  /** Somebody said `start`, perhaps long ago: whatever ended the subscription, paused it or lets it rest, is over. */
  startAgain(command: Extract<Command, { command: 'start' }>): void
  /** Somebody said `pause`, perhaps long ago: nothing of the subscription is attempted until `start` is said. */
  pause(command: Extract<Command, { command: 'pause' }>): void
  /** An operator has said what is to become of a block, perhaps long ago. */
  resolve(command: Extract<Command, { command: 'start' | 'skip' }>): void
  /** What is known of the subscription's events that stay where they are is another. */
  inPlaceChanged(id: string): void
  /**
   * A process has seen that no retry can help this revision. What was said before this process ran is past: it tries
   * again, as after any restart.
   */
  fail(said: Omit<Extract<Command, { command: 'fail' }>, 'command' | 'by'>): void
  /** Takes up every subscription; resolves when each is running or has a status that says why not. */
  start(): Promise<void>
  /** Drains: see `BARNABAS_DRAIN_TIMEOUT`. */
  close(): Promise<void>
  /** The oldest of its consumers' last heartbeats. */
  readonly lastHeartbeatAt: number
}

interface Failure {
  readonly revision: string
  readonly reason: string
  /** Its receiver has not agreed; it may when another dispatcher asks. */
  readonly isHandshake: boolean
}

const lookForTopicsMs = 2_000
const restartAfterMs = 5_000

/** Source topics → first attempt, and held topics → the attempts that could not be made when they fell due: one consumer group per subscription, each taken up and let go while running. */
export function createDispatcher(options: DispatcherOptions): Dispatcher {
  const { kafka, names, subscriptions, statuses, probations, logger } = options
  const budget = createReadBudget(readBytesMax)
  const doubled = createDoubledRecords()
  const runners = new Map<string, SubscriptionRunner>()
  /** What ended a running subscription, until it is changed or the process is started again. */
  const failures = new Map<string, Failure>()
  /** As they were when they were last looked for. */
  const problems = new Map<string, string>()
  /** How often each had to be taken up anew because an event of it is left without a request. */
  const restarts = new Map<string, number>()
  let topics: ReadonlySet<string> = new Set()
  const recreations = createRecreations()
  const resolutions = createResolutions()
  const spoken = createSpoken()
  let topicsTimer: NodeJS.Timeout | undefined
  let closed = false
  let hasStarted = false

  const heldReaders = createHeldReaders({
    names,
    admin: kafka.admin,
    wishOf: heldWishOf,
    read: (id, onFailed) => readHeld({ ...options, isBlocked: isStopped, budget, doubled, id, onNoRequest, onFailed }),
    caughtUp: () => subscriptions.caughtUp(),
    drainTimeoutMs: options.drainTimeoutMs,
    timeScale: options.timeScale,
    now: options.now,
    logger,
  })

  function heldWishOf(id: string): HeldWish {
    const desired = desiredOf(id)
    if (desired.kind === 'delete') return 'clear'
    if (
      desired.kind === 'fail' ||
      isStopped(desired.subscription) ||
      awaitsHandshake(desired.subscription, statuses.get(id))
    )
      return 'rest'
    return 'read'
  }

  /** What is known of its pauses: said here, in its status, or when it was created. */
  function factsOf(id: string, generation: number): PauseFacts {
    const entry = subscriptions.get(id)
    const present = entry?.kind === 'valid' && entry.subscription.generation === generation ? entry.subscription : null
    const known = factsOfLife(generation, present?.createdPausedBy, statuses.get(id))
    return mergedFacts(known, spoken.factsOf(id, generation))
  }

  const isPaused = ({ id, generation }: Subscription) => factsOf(id, generation).paused !== null

  /** Its status may say so a moment later. */
  const isStopped = (subscription: Subscription) => isPaused(subscription) || options.isBlocked(subscription)

  function sync(id: string): void {
    if (closed) return
    heldReaders.changed(id)
    const desired = desiredOf(id)
    if (desired.kind === 'delete' && !runners.has(id)) return
    runnerOf(id).update(desired)
  }

  function desiredOf(id: string): Desired {
    const entry = subscriptions.get(id)
    if (entry === undefined) return { kind: 'delete' }
    if (entry.kind === 'invalid') {
      const { reason, generation, revision } = entry
      return { kind: 'fail', reason, generation, revision, missing: [] }
    }
    const { subscription } = entry
    const { generation, revision } = subscription
    const missing = subscription.topics.filter((topic) => !topics.has(topic))
    if (missing.length > 0) return { kind: 'fail', reason: missingReason(missing), generation, revision, missing }
    const problem = stopsWithoutRequest(subscription) ? options.problemOf(subscription) : null
    if (problem !== null) return { kind: 'fail', reason: problem, generation, revision, missing: [] }
    const failure = failures.get(id)
    if (failure?.revision === revisionOf(subscription)) {
      return { kind: 'fail', reason: failure.reason, generation, revision, missing: [] }
    }
    return {
      kind: 'run',
      subscription,
      topicLives: `${recreations.livesOf(subscription.topics)} ${restarts.get(id) ?? 0}`,
    }
  }

  function runnerOf(id: string): SubscriptionRunner {
    const present = runners.get(id)
    if (present !== undefined) return present
    const runner = createSubscriptionRunner({
      id,
      drainTimeoutMs: options.drainTimeoutMs,
      logger,
      problemOf: ({ sink }) => options.lookAtSink(sink),
      // Row B3: what is wrong with where it delivers to is said before an event has to show it.
      onProblem(subscription, problem) {
        const entry = subscriptions.get(id)
        const isPresent = entry?.kind === 'valid' && revisionOf(entry.subscription) === revisionOf(subscription)
        if (isPresent && !closed) void failed(subscription, problem, 'NO_REQUEST')
      },
      join: (subscription) =>
        runSubscription({
          subscription,
          kafka,
          names,
          deliverer: options.deliverer,
          probations,
          rates: options.rates,
          budget,
          sessionTimeoutMs: options.sessionTimeoutMs,
          timeScale: options.timeScale,
          status: () => statuses.get(id),
          handshakes: options.handshakes,
          inPlaceEvents: options.inPlaceEvents,
          resolutionOf: (event) => resolutions.of(event),
          isPaused,
          onRunning: (revision, found) =>
            say(id, {
              ...runningStatus(revision, found, options.problemOf(revision)),
              probation: probations.probationOf(id),
              parked: probations.parkedOf(id),
            }),
          onFailed: (reason, code) => void failed(subscription, reason, code),
          onTopicId: (topic, topicId) => idsAre(new Map([[topic, topicId]])),
          onFiltered: options.onFiltered,
          onNoRequest,
          onSkipped: options.onSkipped,
          logger,
        }).catch((error: unknown) => {
          // What no retry can help ends as `Start Failed`; everything else is tried again by the runner.
          const code = error instanceof ConsumerStartError ? error.failure.code : 'OTHER'
          if (code !== 'OTHER') void failed(subscription, error instanceof Error ? error.message : String(error), code)
          throw error
        }),
      onStarting(subscription) {
        const { generation, revision } = subscription
        const status = statuses.get(id)
        // It stands where it stood.
        if (options.isBlocked(subscription)) return
        if (status?.generation === generation && status.status === 'Running') return
        say(id, { status: 'Starting', reason: 'joining its consumer group', generation, revision })
      },
      async onFailed({ reason, generation, revision, missing }) {
        say(id, { status: 'Start Failed', reason, generation, revision, missing })
      },
      onLifeOver(subscription) {
        // Whoever was never sent an event has not agreed to be sent this one.
        const isAgreed = !awaitsHandshake(subscription, statuses.get(id))
        if (subscription.handshake === 'event-grid' && isAgreed) options.deletions.tell(subscription)
      },
      async onDeleted() {
        await statuses.remove(id)
        options.inPlaceEvents.forgetInPlace(id)
        if (subscriptions.get(id) !== undefined) return
        runners.delete(id)
        failures.delete(id)
        problems.delete(id)
        restarts.delete(id)
        // Another dispatcher may still be in the group: the last one to leave deletes it.
        await kafka.admin.deleteGroup(names.subscriptionGroup(id))
      },
    })
    runners.set(id, runner)
    return runner
  }

  async function failed(subscription: Subscription, reason: string, code: FailureCode) {
    const { id } = subscription
    logger.error({ subscription: id, code }, `the subscription's consumer has stopped: ${reason}`)
    failures.set(id, { revision: revisionOf(subscription), reason, isHandshake: code === 'HANDSHAKE' })
    if (code === 'UNKNOWN_TOPIC') await lookForTopics()
    sync(id)
    if (code !== 'UNKNOWN_TOPIC' && code !== 'OTHER') return
    // The topic may be back already, and an unforeseen failure of the client may pass: a new consumer tries again.
    setTimeout(() => {
      failures.delete(id)
      sync(id)
    }, restartAfterMs).unref()
  }

  /** Row B3. What is missing may have been seen to be missing only now; then the subscription starts by itself once it is there. */
  function onNoRequest(subscription: Subscription, message: string): void {
    const { id } = subscription
    const revision = revisionOf(subscription)
    if (closed || failures.get(id)?.revision === revision) return
    // Whoever reads its topics next begins with the events that this one leaves behind, under whatever revision.
    restarts.set(id, (restarts.get(id) ?? 0) + 1)
    lookForProblems()
    const entry = subscriptions.get(id)
    const isPresent = entry?.kind === 'valid' && revisionOf(entry.subscription) === revision
    if (isPresent && !problems.has(id)) return void failed(subscription, message, 'NO_REQUEST')
    sync(id)
  }

  function say(id: string, wanted: StatusWrite): void {
    statuses.write(id, { ...wanted, said: factsOf(id, wanted.generation) }).catch((error: unknown) => {
      logger.warn({ subscription: id, status: wanted.status, error: String(error) }, 'the status cannot be written')
    })
  }

  /** A source topic that appears or is deleted starts or stops its subscriptions; one that was made again restarts them. */
  async function lookForTopics(): Promise<void> {
    try {
      const [found, topicIds] = await Promise.all([kafka.admin.topics(), kafka.admin.topicIds(sourceTopics())])
      const hasChanged = (topic: string) => found.has(topic) !== topics.has(topic)
      const affected = readersOf(hasChanged)
      topics = found
      affected.forEach(sync)
      idsAre(topicIds)
      heldReaders.topicsAre(found)
    } catch (error) {
      logger.debug({ error: String(error) }, 'cannot list topics; asking again')
    }
  }

  /** What the brokers tell is compared with what readers began with too: a topic made anew may be the first one seen here. */
  function idsAre(topicIds: ReadonlyMap<string, string>): void {
    const anew = recreations.idsAre(topicIds)
    for (const topic of anew) logger.warn({ topic }, 'a source topic was deleted and made again')
    if (anew.length > 0) readersOf((topic) => anew.includes(topic)).forEach(sync)
  }

  function readersOf(isAbout: (topic: string) => boolean): readonly string[] {
    return subscriptions.ids().filter((id) => {
      const entry = subscriptions.get(id)
      return entry?.kind === 'valid' && entry.subscription.topics.some(isAbout)
    })
  }

  function sourceTopics(): readonly string[] {
    const all = subscriptions.ids().flatMap((id) => {
      const entry = subscriptions.get(id)
      return entry?.kind === 'valid' ? entry.subscription.topics : []
    })
    return [...new Set(all)]
  }

  async function watchTopics(): Promise<void> {
    await lookForTopics()
    lookForProblems()
    if (!closed) topicsTimer = setTimeout(() => void watchTopics(), lookForTopicsMs)
  }

  /** What this process lacked may be there by now: a secret whose file has appeared starts its subscriptions. */
  function lookForProblems(): void {
    for (const id of subscriptions.ids()) {
      const entry = subscriptions.get(id)
      const problem = entry?.kind === 'valid' ? options.problemOf(entry.subscription) : null
      if (problem === (problems.get(id) ?? null)) continue
      if (problem === null) problems.delete(id)
      else problems.set(id, problem)
      sync(id)
    }
  }

  /** What was deleted while no dispatcher ran has left its status and its group behind. */
  function forgetDeleted(): void {
    for (const { id } of statuses.all()) {
      if (subscriptions.get(id) === undefined) runnerOf(id).update({ kind: 'delete' })
    }
  }

  /** What the leader's handshake came to concerns every member of the group, and the retries that are held. */
  function statusChanged(id: string): void {
    const entry = subscriptions.get(id)
    if (closed || entry?.kind !== 'valid' || entry.subscription.handshake === 'none') return
    const { subscription } = entry
    const status = statuses.get(id)
    const revision = revisionOf(subscription)
    const isOf = status?.generation === subscription.generation && status.handshake?.revision === subscription.revision
    const kind = isOf ? status.handshake?.kind : undefined
    const failure = failures.get(id)
    if (kind === 'failed' && status?.status === 'Start Failed' && failure?.revision !== revision) {
      failures.set(id, { revision, reason: status.reason, isHandshake: true })
      return sync(id)
    }
    if (kind === 'succeeded' && failure?.isHandshake === true) {
      failures.delete(id)
      return sync(id)
    }
    runners.get(id)?.statusChanged()
    heldReaders.changed(id)
  }

  async function changed(id: string): Promise<void> {
    const entry = subscriptions.get(id)
    const isNewTopic = (topic: string) => !topics.has(topic)
    if (entry?.kind === 'valid' && entry.subscription.topics.some(isNewTopic)) await lookForTopics()
    sync(id)
  }

  /** The answer is the status that is written next: it names the command. Said twice, it is done once. */
  async function startAgain(command: Extract<Command, { command: 'start' }>): Promise<void> {
    const { subscription: id, at } = command
    const time = Date.parse(at)
    const entry = subscriptions.get(id)
    const isNews = at > startedOf(id)
    spoken.said(command)
    if (entry === undefined) return
    const generation = entry.kind === 'valid' ? entry.subscription.generation : entry.generation
    // It was said of an earlier life, or heard already.
    if (time < generation || !isNews) return
    failures.delete(id)
    // Whoever is at a terminal has another clock, and means what is now. What was said before this process ran is past.
    if (entry.kind === 'valid')
      probations.end(entry.subscription, Math.min(hasStarted ? Infinity : time, options.now()))
    if (!hasStarted) return
    logger.info({ subscription: id, at }, `${id}: start was said`)
    await lookForTopics()
    sync(id)
  }

  /** `at` of the last `start` of its present life that was heard here. */
  function startedOf(id: string): string {
    const entry = subscriptions.get(id)
    if (entry === undefined) return ''
    const { generation } = entry.kind === 'valid' ? entry.subscription : entry
    return spoken.factsOf(id, generation).started ?? ''
  }

  return {
    changed: (id) => void changed(id),
    statusChanged,
    fail({ subscription: id, generation, revision, reason, at }) {
      const entry = subscriptions.get(id)
      if (!hasStarted || closed || entry?.kind !== 'valid') return
      const { subscription } = entry
      const isPresent = subscription.generation === generation && subscription.revision === revision
      if (!isPresent || at <= startedOf(id)) return
      if (failures.get(id)?.revision === revisionOf(subscription)) return
      void failed(subscription, reason, 'FORBIDDEN_ADDRESS')
    },
    startAgain: (command) => void startAgain(command),
    pause(command) {
      spoken.said(command)
      if (!hasStarted || closed || subscriptions.get(command.subscription) === undefined) return
      logger.info({ subscription: command.subscription, at: command.at }, `${command.subscription}: pause was said`)
      sync(command.subscription)
    },
    resolve(command) {
      resolutions.said(command)
      runners.get(command.subscription)?.resolved()
    },
    inPlaceChanged(id) {
      if (closed) return
      runners.get(id)?.inPlaceChanged()
      heldReaders.changed(id)
    },
    async start() {
      hasStarted = true
      topics = await kafka.admin.topics()
      subscriptions.ids().forEach(sync)
      heldReaders.topicsAre(topics)
      forgetDeleted()
      await Promise.all([...runners.values()].map((runner) => runner.settled()))
      topicsTimer = setTimeout(() => void watchTopics(), lookForTopicsMs)
    },
    async close() {
      closed = true
      clearTimeout(topicsTimer)
      const running = [...runners.values(), heldReaders]
      await Promise.all(running.map((each) => each.close(options.drainTimeoutMs)))
    },
    get lastHeartbeatAt() {
      return Math.min(heldReaders.lastHeartbeatAt, ...[...runners.values()].map((runner) => runner.lastHeartbeatAt))
    },
  }
}

function runningStatus(
  { id, topics, generation, revision }: Subscription,
  found: FoundOfGroup,
  problem: string | null,
): StatusWrite {
  const { skippedOffsets, anew, topicIds, blocked } = found
  const reading = `reading ${topics.length === 1 ? '1 topic' : `${topics.length} topics`}`
  const notes = [
    ...(anew.length === 0 ? [] : [anewText(anew)]),
    ...(problem === null ? [] : [`its events are given up (DestinationInvalid): ${problem}`]),
  ]
  const reason = [reading, ...notes].join('; ')
  const facts = { generation, revision, topics, topicIds, skippedOffsets, blocked }
  if (blocked.length > 0) return { status: 'Ready', reason: blockedText(id, blocked), ...facts }
  return { status: 'Running', reason, ...facts }
}

function anewText(anew: readonly string[]): string {
  const [wasMade, isRead] = anew.length === 1 ? ['was', 'it is'] : ['were', 'they are']
  return `${anew.join(', ')} ${wasMade} deleted and made again, and ${isRead} read from the beginning`
}

function missingReason(missing: readonly string[]): string {
  const [first] = missing
  const what =
    missing.length === 1 ? `source topic ${first} does not exist` : `source topics ${missing.join(', ')} do not exist`
  return `${what}; the subscription starts by itself once ${missing.length === 1 ? 'it is' : 'they are'} there`
}

function revisionOf({ generation, revision }: Subscription): string {
  return `${generation}/${revision}`
}
