import type { OwnTopic } from './own-topics.ts'
import { minInsyncReplicas } from './own-topics.ts'

/** A topic as it stands on the broker. */
export interface FoundTopic {
  readonly partitions: number
  readonly replication: number
  readonly config: Readonly<Record<string, string>>
}

export interface TopicDifference {
  readonly topic: string
  /** `partitions`, or the name of a configuration entry. */
  readonly setting: string
  readonly wanted: string
  /** null when the broker did not tell. */
  readonly found: string | null
  /** The command line that mends it. */
  readonly command: string
}

/** Settings where more than what is wanted serves as well. */
const atLeast = new Set(['max.message.bytes', 'min.insync.replicas'])

/**
 * How an own topic differs from what is wanted. More partitions than wanted are fine. Replication is not compared:
 * its default follows the number of brokers, so a growing cluster would refuse its own topics; what the present
 * replication allows in `min.insync.replicas` is.
 */
export function compareTopic(wanted: OwnTopic, found: FoundTopic, bootstrapServer: string): readonly TopicDifference[] {
  const differences: TopicDifference[] = []
  if (found.partitions < wanted.partitions && !wanted.operatorOwned.includes('partitions')) {
    differences.push({
      topic: wanted.topic,
      setting: 'partitions',
      wanted: String(wanted.partitions),
      found: String(found.partitions),
      command: `kafka-topics --bootstrap-server ${bootstrapServer} --alter --topic ${wanted.topic} --partitions ${wanted.partitions}`,
    })
  }
  for (const [setting, value] of Object.entries(wanted.config)) {
    if (wanted.operatorOwned.some((owned) => owned === setting)) continue
    const wantedValue = setting === 'min.insync.replicas' ? String(minInsyncReplicas(found.replication)) : value
    const foundValue = Object.hasOwn(found.config, setting) ? (found.config[setting] ?? null) : null
    if (serves(setting, wantedValue, foundValue, found.replication)) continue
    differences.push({
      topic: wanted.topic,
      setting,
      wanted: wantedValue,
      found: foundValue,
      command: `kafka-configs --bootstrap-server ${bootstrapServer} --alter --entity-type topics --entity-name ${wanted.topic} --add-config ${setting}=${listed(wantedValue)}`,
    })
  }
  return differences
}

/** The tool takes a comma for the end of a value, unless it stands in brackets. */
function listed(value: string): string {
  return value.includes(',') ? `[${value}]` : value
}

function serves(setting: string, wanted: string, found: string | null, replication: number): boolean {
  if (found === wanted) return true
  if (found === null || !atLeast.has(setting)) return false
  // More in-sync replicas than there are replicas would refuse every write.
  if (setting === 'min.insync.replicas' && Number(found) > replication) return false
  return Number(found) >= Number(wanted)
}

/** One line for a person: "barnabas.retry.1m: retention.ms is 604800000, not -1". */
export function describeDifference({ topic, setting, wanted, found }: TopicDifference): string {
  return `${topic}: ${setting} is ${found ?? 'unknown'}, not ${wanted}`
}
