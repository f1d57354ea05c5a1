import { connectKafka } from '@barnabas/kafka'
import type {
  Assignment,
  Consumer,
  ConsumerFailure,
  ConsumerOptions,
  KafkaClient,
  KafkaConnectOptions,
  RecordBatch,
} from '@barnabas/kafka'
import type { KafkaRecord, TopicPartition } from '@barnabas/core'
import { onTestFinished } from 'vitest'
import { randomName, testBrokers } from '../support/kafka.ts'

/** Things that arrive one by one, and waiting for enough of them. */
export class Arrivals<Item> {
  readonly items: Item[] = []
  readonly #checks = new Set<() => void>()

  add(item: Item): void {
    this.items.push(item)
    for (const check of this.#checks) check()
  }

  /** Resolves as soon as `isEnough` says so of everything that has arrived; the test's time-out is the limit. */
  async until(isEnough: (items: readonly Item[]) => boolean): Promise<readonly Item[]> {
    await new Promise<void>((resolve) => {
      const check = (): void => {
        if (!isEnough(this.items)) return
        this.#checks.delete(check)
        resolve()
      }
      this.#checks.add(check)
      check()
    })
    return this.items
  }
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly message: string
}

/** A client of the port that ends with the test, and what it logged. */
export function connectPort(options: Partial<KafkaConnectOptions> = {}): KafkaClient & { readonly log: LogLine[] } {
  const log: LogLine[] = []
  const keep = (level: LogLine['level']) => (_fields: object, message: string) => {
    log.push({ level, message })
  }
  const client = connectKafka({
    brokers: testBrokers(),
    clientId: randomName('contract'),
    logger: { debug: keep('debug'), info: keep('info'), warn: keep('warn'), error: keep('error') },
    ...options,
  })
  onTestFinished(() => client.close())
  return Object.assign(client, { log })
}

/** A new topic that is deleted with the test. */
export async function newTopic(
  port: KafkaClient,
  partitions = 1,
  config: Record<string, string> = {},
): Promise<string> {
  const topic = randomName('contract')
  const { refused } = await port.admin.createTopics([{ topic, partitions, replication: 1, config }])
  if (refused.length > 0) throw new Error(JSON.stringify(refused))
  onTestFinished(async () => {
    const after = connectKafka({ brokers: testBrokers(), clientId: 'contract-clean-up', logger: silent })
    await after.admin.deleteTopics([topic])
    await after.close()
  })
  return topic
}

export const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }
function nothing(): void {}

export interface Member {
  readonly consumer: Consumer
  readonly batches: Arrivals<RecordBatch>
  readonly records: Arrivals<KafkaRecord>
  readonly assignments: Arrivals<Assignment>
  readonly failures: Arrivals<ConsumerFailure>
}

/** A consumer that keeps all that it is told. Not started yet. */
export function newMember(
  port: KafkaClient,
  options: Partial<ConsumerOptions> & Pick<ConsumerOptions, 'topics'>,
): Member {
  const member = {
    batches: new Arrivals<RecordBatch>(),
    records: new Arrivals<KafkaRecord>(),
    assignments: new Arrivals<Assignment>(),
    failures: new Arrivals<ConsumerFailure>(),
  }
  const consumer = port.consumer({
    groupId: randomName('contract'),
    ...options,
    onRecords(batch) {
      options.onRecords?.(batch)
      member.batches.add(batch)
      for (const record of batch.records) member.records.add(record)
    },
    onAssigned(assignment) {
      options.onAssigned?.(assignment)
      member.assignments.add(assignment)
    },
    onFailed(failure) {
      options.onFailed?.(failure)
      member.failures.add(failure)
    },
  })
  return { consumer, ...member }
}

/** Resolves once enough records have come; rejects when the member fails before that. */
export async function untilRecords(
  { records, failures }: Member,
  isEnough: (all: readonly KafkaRecord[]) => boolean,
): Promise<void> {
  const failed = async (): Promise<never> => {
    const [failure] = await failures.until((all) => all.length > 0)
    throw new Error(failure?.message)
  }
  await Promise.race([records.until(isEnough), failed()])
}

export async function startMember(...args: Parameters<typeof newMember>): Promise<Member> {
  const member = newMember(...args)
  await member.consumer.start()
  return member
}

/** Writes one record with this text as its value to each of the named partitions. */
export async function write(
  port: KafkaClient,
  topic: string,
  partitions: readonly number[],
  text = 'x',
): Promise<void> {
  const producer = port.producer()
  const results = await Promise.all(
    partitions.map((partition) =>
      producer.produce({ topic, partition, key: null, value: Buffer.from(text), headers: {} }),
    ),
  )
  await producer.close()
  for (const result of results) if (result.kind !== 'acknowledged') throw new Error(result.message)
}

export function names(partitions: readonly TopicPartition[]): string[] {
  return partitions.map(({ topic, partition }) => `${topic}/${partition}`).toSorted()
}

export function lastOf<Item>(arrivals: Arrivals<Item>): Item {
  const item = arrivals.items.at(-1)
  if (item === undefined) throw new Error('nothing has arrived')
  return item
}
