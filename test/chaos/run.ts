import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectKafka } from '@barnabas/kafka'
import { check } from './check.ts'
import { startCluster } from './cluster.ts'
import { answersBy, fateOf } from './fate.ts'
import { commit, windowOf } from './faults.ts'
import type { Stage } from './faults.ts'
import { startFleet } from './fleet.ts'
import type { MemberLog } from './fleet.ts'
import type { ChaosPolicy, FaultWindow, Ledger, Letter } from './ledger.ts'
import { keyOf } from './keys.ts'
import { startNetwork } from './network.ts'
import { planOf } from './plan.ts'
import type { FaultKind } from './plan.ts'
import { startReceiver } from './receiver.ts'
import { startSource } from './source.ts'
import { applySubscriptions, typeOf } from './subscriptions.ts'
import type { ChaosOrder } from './subscriptions.ts'
import { summaryOf } from './summary.ts'
import type { ChaosSummary } from './summary.ts'
import { letterReader, sentEvents } from './topics.ts'
import type { Violation } from './violation.ts'

export interface ChaosOptions {
  readonly seed: number
  readonly events: number
  readonly faults: number
  readonly kinds?: readonly FaultKind[]
  readonly subscriptions: number
  /** How many of them send several events in a request; default none. */
  readonly batched?: number
  /** In which order some deliver; default none. */
  readonly order?: ChaosOrder | undefined
  /** How many of them do, and send one event in a request; default all that may. */
  readonly ordered?: number
  readonly dispatchers: number
  readonly retriers: number
  /** 1, or 3; default 1. */
  readonly brokers?: number
  /** The toxiproxy server that the services' connections go through; none by default. */
  readonly toxiproxy?: string | null
  readonly say: (line: string) => void
  /** How long after the last fault the events may take until all are accounted for; default two minutes. */
  readonly accountedWithinMs?: number
  /** Further environment of the services. */
  readonly env?: Readonly<Record<string, string>>
}

export interface ChaosResult {
  readonly violations: readonly Violation[]
  readonly ledger: Ledger
  readonly summary: ChaosSummary
  /** What the services said, life by life. */
  readonly logs: readonly MemberLog[]
}

const policy: ChaosPolicy = { delaysMs: [500, 1_000, 2_000], maxAttempts: 4, timeoutMs: 2_000 }
const topics = ['chaos-a', 'chaos-b']
const partitions = 4
const places = topics.length * partitions
const sessionTimeoutMs = 2_000
/** How many events a second are written when there are faults to fill the time with. */
const secondsPerFault = 8
const settleMs = 6_000
const accountedWithinMsDefault = 120_000

/**
 * Runs real processes on a real broker, does the planned faults to them while events flow, waits until every event is
 * accounted for and checks the ledger. The seed repeats the plan and the fates of the events, not the interleaving.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { say, seed } = options
  const startedAt = Date.now()
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-chaos-'))
  const network = options.toxiproxy == null ? null : await startNetwork(options.toxiproxy)
  const cluster = await startCluster(folder, options.brokers ?? 1, network)
  const fates = Array.from({ length: options.events }, (_, index) => fateOf(seed, index, policy))
  /** What is delivered or a dead letter. */
  const over = new Set<string>()
  let lettersSeen = 0
  const answerTo = answersBy((id) => fates[Number(id)] ?? { kind: 'ok' })
  const receiver = await startReceiver((ids, attempt) => {
    const status = answerTo(ids, attempt)
    if (status === 200) for (const id of ids) over.add(id)
    return status
  })
  const kafka = connectKafka({ brokers: [...cluster.brokers], clientId: 'chaos', logger: silent })
  const env = {
    KAFKA_BROKERS: cluster.serviceBrokers.join(','),
    BARNABAS_ALLOWED_NETWORKS: '127.0.0.0/8',
    BARNABAS_HTTP_PORT: '0',
    BARNABAS_PARTITIONS: String(partitions),
    BARNABAS_TIER_PARTITIONS: String(partitions),
    BARNABAS_SESSION_TIMEOUT: `${sessionTimeoutMs}ms`,
    BARNABAS_DRAIN_TIMEOUT: '3s',
    ...options.env,
  }
  const fleet = startFleet(env, say)
  const stage: Stage = {
    fleet,
    receiver,
    sessionTimeoutMs,
    cluster,
    network,
    say,
  }
  try {
    await kafka.admin.createTopics(
      topics.map((topic) => ({ topic, partitions, replication: cluster.size, config: {} })),
    )
    const services = [
      ...Array.from({ length: options.dispatchers - 1 }, () => 'dispatcher' as const),
      ...Array.from({ length: options.retriers }, () => 'retrier' as const),
      'dead-letter' as const,
    ]
    // The first makes the topics.
    await fleet.add('dispatcher')
    await Promise.all(services.map((service) => fleet.add(service)))
    const { port } = receiver
    const sink = `http://127.0.0.1:${network === null ? port : await network.proxy('receiver', port)}`
    const { subscriptions: count, batched = 0, order } = options
    const ordered = order === undefined ? 0 : (options.ordered ?? count - batched)
    await applySubscriptions(folder, { count, batched, ordered, order, topics, sink, policy }, env)

    const letters: Letter[] = []
    const deadLetters = letterReader(kafka, (letter) => void letters.push(letter))
    await deadLetters.start()
    let begun = 0
    const source = startSource({
      brokers: cluster.brokers,
      topics,
      partitions,
      events: options.events,
      lastsMs: Math.max(1, options.faults * secondsPerFault) * 1_000,
      mayBeWritten: () => Math.ceil((options.events * (begun + 1)) / Math.max(1, options.faults)),
      typeOf: (index) => typeOf(index % count),
      keyOf: (index) => keyOf(index, { seed, events: options.events, places, subscriptions: count }),
    })

    const windows: FaultWindow[] = []
    const settings = { sessionTimeoutMs, brokers: cluster.size }
    for (const [index, fault] of planOf(seed, options.faults, options.kinds).entries()) {
      await sleep(fault.pauseMs)
      say(
        `fault ${index + 1} of ${options.faults}: ${fault.kind}; ${source.written} written, ${receiver.attempts.length} attempts`,
      )
      begun = index + 1
      windows.push(...(await commit(stage, fault)))
    }
    await source.done
    // Whatever made a write that slow, our services' writes at that time hung in the air as well.
    for (const { from, to } of source.slowWrites) windows.push(windowOf('slow-write', from, to, settings))
    await accounted(options, () => {
      for (const { id } of letters.slice(lettersSeen)) over.add(id)
      lettersSeen = letters.length
      return over.size
    })
    await quiet(() => receiver.attempts.length + letters.length)
    await deadLetters.caughtUp()
    await deadLetters.stop()

    const sent = await sentEvents(kafka, topics, fates, (index, { topic, partition, key, offset }) => {
      const subscription = index % count
      if (subscription < count - ordered) return null
      const lane = `chaos-${subscription}, ${topic}/${partition}`
      return { lane: order === 'key' ? `${lane}, key ${String(key)}` : lane, offset }
    })
    const { endings, logs } = fleet
    for (const { at, backAt } of endings) windows.push(windowOf('ended', at, backAt ?? Date.now(), settings))
    const ledger: Ledger = { policy, sent, attempts: receiver.attempts, letters, windows, endings }
    const violations = check(ledger)
    const summary = summaryOf(ledger, options.faults, (Date.now() - startedAt) / 1_000)
    return { violations, ledger, summary, logs }
  } finally {
    await fleet.end()
    await receiver.leave()
    await kafka.close()
    await cluster.end()
    network?.end()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Waits until every event is delivered or a dead letter, or until nothing more can be hoped for. */
async function accounted({ events, say, ...options }: ChaosOptions, count: () => number): Promise<void> {
  const until = Date.now() + (options.accountedWithinMs ?? accountedWithinMsDefault)
  for (let told = 0; Date.now() < until; told++) {
    const done = count()
    if (done >= events) return
    if (told % 20 === 0) say(`${done} of ${events} events are delivered or dead letters`)
    await sleep(250)
  }
}

/** Waits until nothing has happened for longer than any retry or takeover takes. */
async function quiet(count: () => number): Promise<void> {
  let before = -1
  for (let now = count(); now !== before; now = count()) {
    before = now
    await sleep(settleMs)
  }
}

const nothing = (): void => undefined
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }
