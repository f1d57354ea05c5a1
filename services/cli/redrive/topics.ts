import type { Cluster } from '../cluster.ts'
import { Refusal } from '../refusal.ts'

export interface RedriveTopics {
  readonly tier: { readonly topic: string; readonly partitions: number }
  readonly recordBytesMax: number
  /** Infinity for ever. */
  readonly marksKeptMs: number
}

/** What of a cluster is asked. */
type RedriveCluster = Pick<Cluster, 'names' | 'brokers'> & {
  readonly kafka: { readonly admin: Pick<Cluster['kafka']['admin'], 'describeTopics' | 'topicConfig'> }
}

const day = 86_400_000

/**
 * Where redriven events and their marks go. Throws a `Refusal` with what mends it when a topic is missing, or when marks
 * would be deleted before the dead letters that they stand for.
 */
export async function redriveTopics(
  { kafka, names, brokers }: RedriveCluster,
  deadLetterTopics: readonly string[],
): Promise<RedriveTopics> {
  const topic = names.retryTopic('now')
  const described = await kafka.admin.describeTopics([topic, names.redrives])
  const partitionsOf = (name: string) => described.find((each) => each.topic === name)?.partitions
  const missing = [topic, names.redrives].filter((name) => partitionsOf(name) === undefined)
  if (missing.length > 0) {
    throw new Refusal(`${missing.join(' and ')} does not exist; the services make it when they start in this version`)
  }
  const configs = await kafka.admin.topicConfig([topic, names.redrives, ...deadLetterTopics])
  const setting = (name: string, key: string) => Number(configs.get(name)?.[key] ?? Number.NaN)
  const keptMs = (name: string) => {
    if (!(configs.get(name)?.['cleanup.policy'] ?? 'delete').includes('delete')) return Infinity
    const ms = setting(name, 'retention.ms')
    return ms < 0 ? Infinity : ms
  }
  const marksKeptMs = keptMs(names.redrives)
  for (const each of deadLetterTopics) {
    if (!(keptMs(each) + day > marksKeptMs) || marksKeptMs === Infinity) continue
    const wanted = keptMs(each) === Infinity ? -1 : keptMs(each) + day
    throw new Refusal(
      `dead letters in ${each} are kept longer than the marks of what was sent again, which would then be sent twice; run\n` +
        `kafka-configs --bootstrap-server ${brokers} --alter --entity-type topics --entity-name ${names.redrives} --add-config retention.ms=${wanted}`,
    )
  }
  return {
    tier: { topic, partitions: partitionsOf(topic)! },
    recordBytesMax: setting(topic, 'max.message.bytes') || Infinity,
    marksKeptMs,
  }
}
