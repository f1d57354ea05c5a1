import type { BlockedEvent } from '@barnabas/core'
import { plainKafka, produce } from './kafka.ts'
import { followTopics } from './followed-topics.ts'
import type { FollowedRecord } from './followed-topics.ts'

/** A status as it came by in the topic; `time` is when it was written, ms since the epoch. */
export interface SeenStatus {
  readonly id: string
  readonly status: string
  readonly reason: string
  readonly generation: number
  readonly revision: number
  readonly blocked: readonly BlockedEvent[]
  readonly handshake: {
    readonly kind: string
    readonly url?: string | null
    readonly allowedRate?: number | null
  } | null
  readonly time: number
}

/** What stands in the subscriptions topic and in the status topic of a prefix, while the test goes on. */
export interface ControlTopics {
  /** Resolves with the first status, past or to come, of this id that satisfies the predicate. */
  untilStatus(id: string, isIt: (status: SeenStatus) => boolean): Promise<SeenStatus>
  /** Resolves when the id's last status is gone, with the time at which its tombstone was written. */
  untilRemoved(id: string): Promise<number>
  /** All of one id, in their order. */
  statusesOf(id: string): readonly SeenStatus[]
  /** When the id's latest subscription was written (or deleted), by the record's timestamp. */
  writtenAt(id: string): Promise<number>
  /** The latest stored subscription of an id, parsed. */
  stored(id: string): Promise<Record<string, unknown>>
  stop(): Promise<void>
}

export async function followControlTopics(prefix: string, kafka = plainKafka()): Promise<ControlTopics> {
  const topics = await followTopics(kafka, [`${prefix}.status`, `${prefix}.subscriptions`])
  const ofStatus = (id: string) => (record: FollowedRecord) =>
    record.topic === `${prefix}.status` && record.key?.toString() === id && record.value !== null
  const ofSubscription = (id: string) => (record: FollowedRecord) =>
    record.topic === `${prefix}.subscriptions` && record.key?.toString() === id
  const latest = async (id: string) => {
    const records = await topics.until((all) => all.some(ofSubscription(id)))
    return records.findLast(ofSubscription(id))!
  }
  return {
    async untilStatus(id, isIt) {
      const matches = (record: FollowedRecord) => ofStatus(id)(record) && isIt(parseStatus(record))
      const records = await topics.until((all) => all.some(matches))
      return parseStatus(records.find(matches)!)
    },
    async untilRemoved(id) {
      const isIt = ({ topic, key }: FollowedRecord) => topic === `${prefix}.status` && key?.toString() === id
      const records = await topics.until((all) => all.findLast(isIt)?.value === null)
      return Number(records.findLast(isIt)!.timestamp)
    },
    statusesOf: (id) => topics.records.filter(ofStatus(id)).map(parseStatus),
    writtenAt: async (id) => Number((await latest(id)).timestamp),
    stored: async (id) => JSON.parse((await latest(id)).value?.toString() ?? 'null') as Record<string, unknown>,
    stop: () => topics.stop(),
  }
}

function parseStatus({ value, timestamp }: FollowedRecord): SeenStatus {
  return { ...(JSON.parse(value?.toString() ?? '{}') as Omit<SeenStatus, 'time'>), time: Number(timestamp) }
}

/** Writes under an id of the subscriptions topic whatever is given: JSON of an object, or text as it is; null deletes. */
export async function writeSubscription(
  prefix: string,
  id: string,
  value: Readonly<Record<string, unknown>> | string | null,
): Promise<void> {
  const text = value === null || typeof value === 'string' ? value : JSON.stringify(value)
  await produce(plainKafka(), `${prefix}.subscriptions`, [{ key: id, value: text }])
}
