import { kafkaSinkOf, sameSubscription } from '@barnabas/core'
import type { SubscriptionLife, ValidSubscription } from '@barnabas/core'
import { applySubscription, prepareOwnTopics } from '@barnabas/registry'
import type { ApplyHow, ApplyOptions } from '@barnabas/registry'
import type { Cluster } from './cluster.ts'
import { Refusal } from './refusal.ts'
import { createCommands, ensureSourceTopics, missingTopics, refuseMissing } from './source-topics.ts'
import { openStore } from './store.ts'
import type { Store } from './store.ts'

export interface Applied {
  readonly id: string
  readonly kind: 'created' | 'changed' | 'unchanged'
  readonly life: SubscriptionLife
  readonly warnings: readonly string[]
}

export interface AppliedAll {
  readonly applied: readonly Applied[]
  /** With `dryRun`: those that would be. */
  readonly createdTopics: readonly string[]
  readonly store: Store
}

/**
 * Applies subscriptions that were read and found valid. Whatever can be refused is refused before anything is
 * written: files taken from another revision, missing topics of somebody else's broker, own topics that are not as
 * they must be. Throws a `Refusal`.
 */
export async function applyAll(
  cluster: Cluster,
  subscriptions: readonly ValidSubscription[],
  how: ApplyHow,
): Promise<AppliedAll> {
  const before = await openStore(cluster)
  const producer = cluster.kafka.producer()
  const optionsFor = (store: Store): ApplyOptions => ({
    admin: cluster.kafka.admin,
    producer,
    registry: store.subscriptions,
    statuses: store.statuses,
    names: cluster.names,
    now: Date.now,
  })
  const plans = await applyEach(subscriptions, optionsFor(before), { ...how, dryRun: true })
  const topics = subscriptions.flatMap(({ subscription }) => subscription.topics)
  if (how.dryRun) {
    const missing = await missingTopics(cluster, topics)
    if (missing.length > 0 && !cluster.isLocal) await refuseMissing(cluster, missing)
    return { applied: plans, createdTopics: missing, store: before }
  }

  const written = [...ownDeadLetterTopics(cluster, subscriptions), ...sinkTopics(subscriptions)]
  const createdTopics = await ensureSourceTopics(cluster, cluster.isLocal ? [...topics, ...written] : topics)
  await ensureOwnTopics(cluster)
  const store = before.isThere ? before : await openStore(cluster)
  const applied = await applyEach(subscriptions, optionsFor(store), { ...how, dryRun: false })
  await readBack(applied, subscriptions, store)
  return { applied: await warnedOfDeadLetters(cluster, applied, subscriptions), createdTopics, store }
}

function ownDeadLetterTopics({ names }: Cluster, subscriptions: readonly ValidSubscription[]): readonly string[] {
  const topics = subscriptions.flatMap(({ subscription }) => subscription.deadLetter?.topic ?? [])
  return topics.filter((topic) => topic !== names.deadLetter)
}

function sinkTopics(subscriptions: readonly ValidSubscription[]): readonly string[] {
  const sinks = subscriptions.map(({ subscription }) => kafkaSinkOf(subscription.sink))
  return sinks.flatMap((sink) => (sink === null || sink.cluster !== null ? [] : [sink.topic]))
}

/** A missing dead-letter topic loses nothing and stops much: what would go there holds its offset until it is made. */
async function warnedOfDeadLetters(
  cluster: Cluster,
  applied: readonly Applied[],
  subscriptions: readonly ValidSubscription[],
): Promise<readonly Applied[]> {
  const missing = await missingTopics(cluster, ownDeadLetterTopics(cluster, subscriptions))
  if (missing.length === 0) return applied
  const commands = await createCommands(cluster, missing)
  return applied.map((each) => {
    const topic = subscriptions.find(({ subscription }) => subscription.id === each.id)?.subscription.deadLetter?.topic
    const command = topic === undefined ? undefined : commands.get(topic)
    if (command === undefined) return each
    const warning = `deadLetter.topic: ${topic} does not exist; until it does, what would go there holds its offset: ${command}`
    return { ...each, warnings: [...each.warnings, warning] }
  })
}

async function applyEach(
  subscriptions: readonly ValidSubscription[],
  options: ApplyOptions,
  how: ApplyHow,
): Promise<readonly Applied[]> {
  const applied: Applied[] = []
  const problems: string[] = []
  for (const parsed of subscriptions) {
    const { id } = parsed.subscription
    const result = await applySubscription(parsed, options, how)
    if (result.kind === 'failed' || result.kind === 'conflict') problems.push(`${id}: ${result.message}`)
    else applied.push({ id, kind: result.kind, life: result.life, warnings: parsed.warnings })
  }
  if (problems.length === 0) return applied
  const written = how.dryRun ? [] : applied.filter(({ kind }) => kind !== 'unchanged').map(({ id }) => id)
  const rest = written.length === 0 ? 'Nothing was applied.' : `Applied: ${written.join(', ')}.`
  throw new Refusal([...problems, rest].join('\n'))
}

/** Two people may apply at once: whoever wrote last counts, and the other must know. */
async function readBack(
  applied: readonly Applied[],
  written: readonly ValidSubscription[],
  { subscriptions }: Store,
): Promise<void> {
  await subscriptions.caughtUp()
  const overtaken = applied.filter(({ id, life }) => {
    const stored = subscriptions.stored(id)
    const own = written.find(({ subscription }) => subscription.id === id)
    if (stored.kind !== 'valid' || own === undefined) return true
    if (stored.life.generation !== life.generation || stored.life.revision !== life.revision) return true
    // Two who read the same revision write the same next one.
    return !sameSubscription(own, stored)
  })
  if (overtaken.length === 0) return
  throw new Refusal(
    overtaken
      .map(
        ({ id }) => `${id}: somebody else changed it at the same moment; look at \`barnabas get ${id}\`, apply again`,
      )
      .join('\n'),
  )
}

async function ensureOwnTopics({ kafka, config, brokers }: Cluster): Promise<void> {
  const prepared = await prepareOwnTopics({
    admin: kafka.admin,
    prefix: config.prefix,
    partitions: config.partitions,
    tierPartitions: config.tierPartitions,
    replication: config.replication === 'auto' ? null : config.replication,
    compares: false,
    bootstrapServer: brokers,
    logger: { info: ignore, warn: ignore },
  })
  if (prepared.kind === 'ready') return
  throw new Refusal([prepared.message, 'This mends it:', ...prepared.commands.map((line) => `  ${line}`)].join('\n'))
}

function ignore(): void {
  // What the services log about their topics is theirs to say.
}
