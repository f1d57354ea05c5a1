import { randomUUID } from 'node:crypto'
import { blocksOf, names as namesOf, problemOfSecrets, rateToKeep, tiers } from '@barnabas/core'
import type { Command, Names, Subscription } from '@barnabas/core'
import {
  createCarryOut,
  createDeliverer,
  createForbiddenAddresses,
  createProbations,
  createRates,
  createReporter,
  createWriters,
} from '@barnabas/delivery'
import type { Deliverer, DeliveryReport, Probations, Rates } from '@barnabas/delivery'
import { connectionProblemOf, connectKafka } from '@barnabas/kafka'
import type { KafkaClient } from '@barnabas/kafka'
import {
  createHeldTopics,
  createTopicMender,
  openCommandLog,
  openHealthStore,
  openProgressLog,
  openStatusStore,
  openSubscriptionRegistry,
  prepareOwnTopics,
} from '@barnabas/registry'
import type {
  CommandLog,
  PrepareOwnTopicsOptions,
  ProgressLog,
  StatusStore,
  SubscriptionRegistry,
} from '@barnabas/registry'
import {
  connectionAdvice,
  createHealth,
  createMetrics,
  createSecrets,
  describeConfig,
  startHealthServer,
  StartupError,
} from '@barnabas/runtime'
import type { Config, Health, HttpAnswer, HttpRequest, Logger, Metrics, ServiceProcess } from '@barnabas/runtime'
import { addressGuard, createAsker, createWebhookSender } from '@barnabas/webhook'
import type { AddressGuard, Asker } from '@barnabas/webhook'
import { openClusters } from './clusters.ts'
import type { ClusterConnectOptions, Clusters, ClustersOptions } from './clusters.ts'
import { createKafkaSinks } from './kafka-sinks.ts'
import { createHandshakeCalls } from './handshake-calls.ts'
import { openTargetAccounts } from './target-accounts.ts'
import type { TargetAccounts, TargetAccountsOptions } from './target-accounts.ts'
import { watchHeartbeats } from './watch-heartbeats.ts'

/** What a service may take beyond the drain time-out: verdicts of what was cut off, the last commit, leaving the group. */
const drainMarginMs = 2_000

/** A service while it runs in this process. */
export interface HostedService {
  /** Drains and leaves, within the drain time-out and a little more. */
  close(): Promise<void>
  /** ms since the epoch of the oldest of its consumers' last heartbeats; absent for one without consumers to watch. */
  readonly lastHeartbeatAt?: number
}

/** What every service of Barnabas stands on, opened in this order and closed in the reverse one. */
export interface Host {
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Metrics
  readonly health: Health
  readonly kafka: KafkaClient
  /** Other Kafka clusters, by the names of BARNABAS_CLUSTERS_FILE. */
  readonly clusters: Clusters
  /** Where dead letters are carried to besides Kafka, by the names of BARNABAS_TARGETS_FILE. */
  readonly targetAccounts: TargetAccounts
  readonly names: Names
  readonly registry: SubscriptionRegistry
  readonly statuses: StatusStore
  /** What is said to the services. Whoever acts on it starts it. */
  readonly commands: CommandLog
  /** Requests that deliver no event, behind the guard of addresses. */
  readonly asker: Asker
  /** Called for every subscription that is created, changed or deleted from now on. */
  onChange(listener: (id: string) => void): void
  /** Called for every change of a status from now on, until the returned function is called. */
  onStatus(listener: (id: string) => void): () => void
  /**
   * The engine that the services of this process share: one attempt, its verdict, and what follows from it. Its
   * connections bound a subscription's attempts in flight for all of them together.
   */
  deliverer(): Deliverer
  /** Why this process can deliver nothing of a subscription: a secret or a cluster is not known. Null for nothing. */
  problemOf(subscription: Subscription): string | null
  /** Why no retry can help what is delivered to a sink, if that can be told by asking there; null for nothing, or no answer. */
  lookAtSink(sink: string): Promise<string | null>
  /** Which endpoints this process leaves to rest. Resolves when it has heard what the others say; one for all services. */
  probations(): Promise<Probations>
  /** How many requests this process makes for each subscription; one for all services. */
  readonly rates: Rates
  /** Whether due retries of the subscription can wait in a topic of their own. */
  mayHold(subscriptionId: string): Promise<boolean>
  /** Subscriptions whose deliveries somebody else tells to people; they are counted, and not logged. */
  readonly toldElsewhere: Set<string>
  /** What `opening` gives; when Kafka does not let us, it ends the start with a sentence. */
  opened<Service>(opening: Promise<Service>): Promise<Service>
  /** Which events stay where they are, and which block their subscriptions; known once `followProgress` has resolved. */
  readonly inPlace: InPlaceEvents
  /** Whether it stands at an event that nobody has resolved (row B5). */
  isBlocked(subscription: Subscription): boolean
  /** Whoever makes retries calls it first: resolves when it is known which of them need not be made. */
  followProgress(): Promise<void>
  /** Keeps these services until the process stops: then they drain side by side, before anything they stand on closes. */
  hold(services: readonly HostedService[]): void
  /** Ends the process with status 1: something that it cannot do without is gone. */
  fail(reason: string): void
  /** Called for each delivery whose verdict was carried out. */
  onDelivery(listener: (report: DeliveryReport) => void): void
}

export type InPlaceEvents = Pick<
  ProgressLog,
  'caughtUp' | 'inPlaceOf' | 'keepInPlace' | 'removeInPlace' | 'forgetInPlace' | 'onInPlace'
>

export interface HostOptions {
  readonly config: Config
  readonly logger: Logger
  /** host:port each. */
  readonly brokers: readonly string[]
  readonly allowedNetworks: readonly string[]
  /** Names this process among the members of consumer groups; random by default. */
  readonly clientId?: string
  /** A broker of one's own has one replica of everything, and nobody needs to be warned of it. */
  readonly isOwnBroker?: boolean
}

/** Connects, makes or compares the own topics, reads the control topics to their end, and listens for HTTP. */
export async function openHost(service: ServiceProcess, options: HostOptions): Promise<Host> {
  const { config, logger, brokers } = options
  // For operators and their logs; a person at a terminal asks for it.
  const level = process.stdout.isTTY ? 'debug' : 'info'
  logger[level](
    { config: { ...describeConfig(config), allowedNetworks: options.allowedNetworks }, brokers },
    'configuration',
  )
  const health = createHealth()
  const metrics = createMetrics()
  const guard = guardOf(options.allowedNetworks)
  const http: { answer: AnswerOthers } = { answer: async () => null }
  await openHttp(service, config, health, metrics, (request) => http.answer(request), logger)

  const clientId = options.clientId ?? `barnabas-${randomUUID()}`
  const findSecret = createSecrets(config.secrets, { now: Date.now })
  const connect = (how: ClusterConnectOptions) =>
    connectKafka({ ...how, clientId, sessionTimeoutMs: config.sessionTimeoutMs, logger })
  const clusters = await clustersOf({ file: config.clustersFile, cwd: process.cwd(), findSecret, connect })
  const targetAccounts = await targetAccountsOf({ file: config.targetsFile, cwd: process.cwd(), findSecret })
  const kafka = connect({
    brokers,
    ...(config.kafka.ssl === null ? {} : { ssl: tlsOf(config.kafka.ssl) }),
    ...(config.kafka.sasl === null ? {} : { sasl: config.kafka.sasl }),
  })
  service.closers.add('kafka', () => kafka.close())
  service.closers.add('clusters', () => clusters.close())
  const names = namesOf(config.prefix)
  const kafkaSinks = createKafkaSinks({ kafka, brokers, clusters, names, findSecret })
  const ownTopics: PrepareOwnTopicsOptions = {
    admin: kafka.admin,
    prefix: config.prefix,
    partitions: config.partitions,
    tierPartitions: config.tierPartitions,
    replication: config.replication === 'auto' ? null : config.replication,
    bootstrapServer: brokers.join(','),
    warnsOfOneReplica: options.isOwnBroker !== true,
    logger,
  }
  const tierPartitions = await prepareTopics(names, ownTopics, config)
  const heldTopics = createHeldTopics({ ...ownTopics, now: Date.now })
  const mend = createTopicMender({
    names,
    prepare: () => prepareOwnTopics({ ...ownTopics, compares: false, warnsOfOneReplica: false }),
    heldTopics,
    now: Date.now,
    logger,
  })
  const toldElsewhere = new Set<string>()
  const changeListeners: ((id: string) => void)[] = []
  const deliveryListeners: ((report: DeliveryReport) => void)[] = []
  const changed = (id: string) => changeListeners.forEach((listener) => listener(id))
  const registry = openSubscriptionRegistry({
    kafka,
    names,
    timeScale: config.timeScale,
    eventGrid: config.eventGrid,
    onChange({ kind, id }) {
      if (kind === 'deleted') {
        void metrics.forgetSubscription(id)
        heldTopics.forget(id)
      }
      changed(id)
    },
    logger,
  })
  const statusListeners = new Set<(id: string) => void>()
  const onStatus = (listener: (id: string) => void) => {
    statusListeners.add(listener)
    return () => void statusListeners.delete(listener)
  }
  const statuses = openStatusStore({
    kafka,
    names,
    now: Date.now,
    onChange: (id) => statusListeners.forEach((listener) => listener(id)),
    logger,
  })
  const commands = openCommandLog({ kafka, names, logger })
  const progress = openProgressLog({ kafka, names, now: Date.now, onMissing: mend, logger })
  service.closers.add('progress', () => progress.stop())
  service.closers.add('subscriptions', () => registry.stop())
  service.closers.add('statuses', () => statuses.stop())
  service.closers.add('commands', () => commands.stop())
  await Promise.all([registry.start(), statuses.start()]).catch((error: unknown) => {
    throw startupError(error, config, ownTopics.bootstrapServer)
  })

  const write = (command: Command) => commands.write(command)
  http.answer = createHandshakeCalls({ statuses, write, onStatus, now: Date.now })
  const subscriptionOf = (id: string) => {
    const entry = registry.get(id)
    return entry?.kind === 'valid' ? entry.subscription : null
  }
  const rates = createRates({
    rateOf(id) {
      const subscription = subscriptionOf(id)
      return subscription === null ? null : rateToKeep(subscription, statuses.get(id))
    },
    now: () => performance.now(),
  })
  service.closers.add('rates', async () => rates.close())
  changeListeners.push((id) => rates.changed(id))
  statusListeners.add((id) => rates.changed(id))
  const forbidden = createForbiddenAddresses(({ id, generation, revision }, reason) => {
    logger.warn({ subscription: id }, reason)
    const about = { subscription: id, generation, revision, reason: reason.slice(0, 2_000) }
    void write({ command: 'fail', ...about, by: clientId, at: new Date().toISOString() }).then((written) => {
      if (written.kind !== 'acknowledged') logger.warn({ subscription: id }, 'nobody was told that it has to end')
    })
  })
  changeListeners.push((id) => forbidden.forget(id))
  let openedProbations: Promise<Probations> | undefined
  let probations: Probations | undefined

  /** Opened by those that make attempts, before their first. */
  async function openProbations(): Promise<Probations> {
    const store = openHealthStore({
      kafka,
      names,
      process: clientId,
      recordOf: (id) => created.recordOf(id),
      subscriptions: registry,
      timeScale: config.timeScale,
      now: Date.now,
      logger,
    })
    const created = createProbations({ health: store, process: clientId, subscriptionOf, now: Date.now })
    service.closers.add('health', () => store.stop())
    service.closers.add('probations', async () => created.close())
    await store.start()
    store.onChange((change) => created.heard(change))
    changeListeners.push((id) => created.changed(id))
    deliveryListeners.push(({ state, verdict }) => created.count(state, verdict))
    metrics.follow(() => created.standings())
    probations = created
    return created
  }

  let opened: Deliverer | undefined
  const deliverer = () => (opened ??= openDeliverer())

  function presentOf(subscription: Subscription): Subscription | null {
    const entry = registry.get(subscription.id)
    if (entry === undefined) return null
    // What stands there and cannot be read says nothing new.
    if (entry.kind === 'invalid') return subscription
    return entry.subscription.generation === subscription.generation ? entry.subscription : null
  }

  function openDeliverer(): Deliverer {
    const sender = createWebhookSender({ addressGuard: guard, findSecret, origin: config.origin })
    const tierTopics = new Set(names.retryTopics)
    const writers = createWriters({
      kafka,
      isTier: (topic) => tierTopics.has(topic),
      defaultDeadLetterTopic: names.deadLetter,
      onMissing: mend,
      logger,
    })
    service.closers.add('writers', () => writers.close())
    service.closers.add('webhooks', () => sender.close())
    service.closers.add('kafka-sinks', () => kafkaSinks.close())
    const carryOut = createCarryOut({
      writers,
      heldTopics,
      keepInPlace: (event, owner) => progress.keepInPlace(event, owner),
      tiers,
      tierTopic: (tier) => names.retryTopic(tier.name),
      tierPartitions,
      timeScale: config.timeScale,
      now: Date.now,
    })
    const report = createReporter(logger, metrics, (id) => toldElsewhere.has(id))
    return createDeliverer({
      sender: kafkaSinks.senderBeside(sender),
      writers,
      carryOut,
      now: Date.now,
      random: Math.random,
      defaultDeadLetterTopic: names.deadLetter,
      presentOf,
      onAttempt: (id, change) => metrics.attemptInFlight(id, change),
      onSplit: (id) => metrics.batchSplit(id),
      lateSuccesses: progress,
      rates,
      logger,
      onResult(subscription, source, result) {
        probations?.observe(subscription, source, result)
        forbidden.observe(subscription, result)
      },
      report(delivery) {
        report(delivery)
        endProgress(delivery, progress)
        for (const listener of deliveryListeners) listener(delivery)
      },
    })
  }

  return {
    config,
    logger,
    metrics,
    health,
    kafka,
    clusters,
    targetAccounts,
    names,
    registry,
    statuses,
    commands,
    asker: createAsker({ addressGuard: guard, findSecret }),
    onStatus,
    onChange: (listener) => void changeListeners.push(listener),
    deliverer,
    problemOf: (subscription) =>
      problemOfSecrets(subscription.headers, findSecret) ??
      kafkaSinks.problemOf(subscription) ??
      targetAccounts.problemOf(subscription),
    lookAtSink: (sink) => kafkaSinks.lookAt(sink),
    probations: () => (openedProbations ??= openProbations()),
    rates,
    inPlace: progress,
    isBlocked: (subscription) =>
      blocksOf(subscription, () => progress.inPlaceOf(subscription.id, subscription.generation)).length > 0,
    mayHold: async (id) => (await heldTopics.find(id)).kind !== 'refused',
    toldElsewhere,
    opened: (opening) =>
      opening.catch((error: unknown) => {
        const isRefused = connectionProblemOf(error).code === 'NOT_AUTHORIZED'
        throw isRefused ? startupError(error, config, ownTopics.bootstrapServer) : error
      }),
    followProgress: () =>
      progress.start().catch((error: unknown) => {
        throw startupError(error, config, ownTopics.bootstrapServer)
      }),
    hold(services) {
      const close = async () => void (await Promise.all(services.map((each) => each.close())))
      service.closers.add('services', close, { limitMs: config.drainTimeoutMs + drainMarginMs })
      const stopWatching = watchHeartbeats(services, { kafka, health, sessionTimeoutMs: config.sessionTimeoutMs })
      service.closers.add('watch', stopWatching)
    },
    fail(reason) {
      logger.fatal(reason)
      service.stop(reason, 1)
    },
    onDelivery: (listener) => void deliveryListeners.push(listener),
  }
}

type AnswerOthers = (request: HttpRequest) => Promise<HttpAnswer | null>

function guardOf(allowedNetworks: readonly string[]): AddressGuard {
  const guard = addressGuard(allowedNetworks)
  if (guard.kind === 'invalid') throw new StartupError(guard.message)
  return guard.guard
}

async function clustersOf(options: ClustersOptions): Promise<Clusters> {
  const opened = await openClusters(options)
  if (opened.kind === 'invalid') throw new StartupError(opened.message)
  return opened.clusters
}

async function targetAccountsOf(options: TargetAccountsOptions): Promise<TargetAccounts> {
  const opened = await openTargetAccounts(options)
  if (opened.kind === 'invalid') throw new StartupError(opened.message)
  return opened.accounts
}

/** What stood there for a retried event is of no use once it has come to its end. */
function endProgress({ state, result, verdict }: DeliveryReport, progress: ProgressLog): void {
  if (verdict.kind !== 'done' && verdict.kind !== 'dead-letter' && verdict.kind !== 'drop') return
  const { subscriptionId, generation, source: { topic, partition, offset } = {}, attempts = 0 } = state
  if (attempts < 2 && result !== null) return
  if (subscriptionId === undefined || generation === undefined) return
  if (topic === undefined || partition === undefined || offset === undefined) return
  progress.end({ subscriptionId, generation, source: { topic, partition, offset } })
}

async function openHttp(
  service: ServiceProcess,
  config: Config,
  health: Health,
  metrics: Metrics,
  others: AnswerOthers,
  logger: Logger,
) {
  health.set('start', { ready: false, live: true, detail: 'starting' })
  if (config.httpPort === undefined) return
  const http = await startHealthServer({ host: config.httpHost, port: config.httpPort, health, metrics, others })
  if (http.kind === 'failed') throw new StartupError(http.reason)
  service.closers.add('http', http.close)
  logger.info({ url: http.url }, `health and metrics at ${http.url}/readyz, /livez and /metrics`)
}

/** How many partitions each tier has; a tier with fewer than another bounds them all, since one hash serves all. */
async function prepareTopics(names: Names, options: PrepareOwnTopicsOptions, config: Config): Promise<number> {
  const prepared = await prepareOwnTopics(options).catch((error: unknown) => {
    throw startupError(error, config, options.bootstrapServer)
  })
  if (prepared.kind === 'refused') {
    throw new StartupError(`${prepared.message}\nRun this, then start again:\n${prepared.commands.join('\n')}`)
  }
  return Math.min(...names.retryTopics.map((topic) => prepared.partitions.get(topic) ?? options.tierPartitions))
}

function startupError(error: unknown, config: Config, brokers: string): StartupError {
  const problem = connectionProblemOf(error)
  return new StartupError(
    connectionAdvice(problem, config.kafka, brokers) ?? `no Kafka answers at ${brokers}: ${problem.message}`,
  )
}

function tlsOf({ ca, cert, key }: { readonly ca?: string; readonly cert?: string; readonly key?: string }) {
  return {
    ...(ca === undefined ? {} : { ca: [ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  }
}
