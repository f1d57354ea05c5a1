import type { TopicPartition } from '@barnabas/core'

/** A map from partitions, by their topic and number. */
export class PartitionMap<Value> {
  readonly #topics = new Map<string, Map<number, Value>>()

  static of(partitions: readonly TopicPartition[]): PartitionMap<true> {
    const map = new PartitionMap<true>()
    for (const one of partitions) map.set(one, true)
    return map
  }

  has({ topic, partition }: TopicPartition): boolean {
    return this.#topics.get(topic)?.has(partition) === true
  }

  get({ topic, partition }: TopicPartition): Value | undefined {
    return this.#topics.get(topic)?.get(partition)
  }

  set({ topic, partition }: TopicPartition, value: Value): void {
    const ofTopic = this.#topics.get(topic) ?? new Map<number, Value>()
    this.#topics.set(topic, ofTopic.set(partition, value))
  }

  delete({ topic, partition }: TopicPartition): void {
    this.#topics.get(topic)?.delete(partition)
  }

  partitions(): TopicPartition[] {
    return [...this.#topics].flatMap(([topic, ofTopic]) =>
      [...ofTopic.keys()].map((partition) => ({ topic, partition })),
    )
  }
}
