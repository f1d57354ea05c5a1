/** The hunks of patches/kafkajs@2.2.4.patch that can be seen without a broker; test/contract sees the others. */
import { createRequire } from 'node:module'
import { inspect } from 'node:util'
import kafkajs from 'kafkajs'
import { describe, expect, test } from 'vitest'

const require = createRequire(import.meta.url)

describe('the request queue of a connection', () => {
  test('arms no timer while nothing is throttled and nothing waits', () => {
    const RequestQueue = require('kafkajs/src/network/requestQueue') as new (options: object) => {
      checkPendingRequests(): void
      readonly throttleCheckTimeoutId: unknown
    }
    const queue = new RequestQueue({ requestTimeout: 1_000, logger: {} })
    queue.checkPendingRequests()
    expect(queue.throttleCheckTimeoutId).toBeNull()
  })
})

interface Offsets {
  readonly topics: readonly { readonly topic: string; readonly partitions: readonly { readonly partition: number }[] }[]
}

describe('a commit', () => {
  test('that is tried again after a rebalance keeps only what is still owned', async () => {
    const ConsumerGroup = require('kafkajs/src/consumer/consumerGroup') as {
      readonly prototype: { commitOffsets(offsets: Offsets): Promise<void> }
    }
    const Runner = require('kafkajs/src/consumer/runner') as new (options: object) => {
      running: boolean
      commitOffsets(offsets: Offsets): Promise<void>
    }
    const tried: Offsets[] = []
    let owned = [0, 1]
    const consumerGroup = {
      assigned: () => [{ topic: 'a', partitions: owned }],
      commitOffsets: ConsumerGroup.prototype.commitOffsets,
      offsetManager: {
        commitOffsets: (offsets: Offsets) => {
          tried.push(offsets)
          if (tried.length > 1) return Promise.resolve()
          owned = [1] // The group rebalances between the two tries.
          return Promise.reject(new Error('the coordinator is not available'))
        },
      },
    }
    const silent = { debug: () => undefined, namespace: () => silent }
    const runner = new Runner({ logger: silent, consumerGroup, retry: { initialRetryTime: 1 } })
    runner.running = true
    await runner.commitOffsets({
      topics: [
        { topic: 'a', partitions: [{ partition: 0 }, { partition: 1 }] },
        { topic: 'never-ours', partitions: [{ partition: 0 }] },
      ],
    })
    expect(tried).toEqual([
      { topics: [{ topic: 'a', partitions: [{ partition: 0 }, { partition: 1 }] }] },
      { topics: [{ topic: 'a', partitions: [{ partition: 1 }] }] },
    ])
  })
})

describe('a seek', () => {
  test('that was not applied before a rebalance is not applied after it', async () => {
    const ConsumerGroup = require('kafkajs/src/consumer/consumerGroup') as new (options: object) => {
      seek(place: { topic: string; partition: number; offset: string }): void
      hasSeekOffset(partition: { topic: string; partition: number }): boolean
      joinAndSync(): Promise<void>
    }
    const events: { readonly generationId?: number }[] = []
    const coordinator = {
      joinGroup: () => Promise.resolve({ generationId: 7, memberId: 'me', leaderId: 'another', members: [] }),
      syncGroup: () =>
        Promise.resolve({ memberAssignment: MemberAssignment.encode({ version: 1, assignment: {}, userData: none }) }),
    }
    const silent = { debug: () => undefined, info: () => undefined, namespace: () => silent }
    const group = new ConsumerGroup({
      logger: silent,
      cluster: { findGroupCoordinator: () => Promise.resolve(coordinator), committedOffsets: () => ({}) },
      topics: [],
      assigners: [],
      instrumentationEmitter: { emit: (_name: string, event: object) => events.push(event) },
    })
    const lost = { topic: 'a', partition: 0 }
    group.seek({ ...lost, offset: '5' })
    await group.joinAndSync()
    expect(group.hasSeekOffset(lost)).toBe(false)
    expect(events).toMatchObject([{ generationId: 7 }])
  })
})

const { MemberAssignment } = kafkajs.AssignerProtocol
const none = Buffer.alloc(0)

describe('a fetched batch that compaction left without records', () => {
  test('moves reading on behind its end', async () => {
    const decodeMessages = require('kafkajs/src/protocol/requests/fetch/v4/decodeMessages') as (
      decoder: object,
    ) => Promise<unknown[] & { nextOffset?: string }>
    const Decoder = require('kafkajs/src/protocol/decoder') as new (buffer: Buffer) => object
    const Batch = require('kafkajs/src/consumer/batch') as new (
      topic: string,
      fetched: string,
      data: object,
    ) => {
      isEmptyDueToFiltering(): boolean
      lastOffset(): string
    }
    const messages = await decodeMessages(new Decoder(emptyBatch({ firstOffset: 5, lastOffsetDelta: 4 })))
    expect(messages).toHaveLength(0)
    expect(messages.nextOffset).toBe('10')
    const batch = new Batch('a', '7', { partition: 0, highWatermark: '20', abortedTransactions: [], messages })
    expect(batch.isEmptyDueToFiltering()).toBe(true)
    expect(batch.lastOffset()).toBe('9')
  })
})

// Once the topic is made again, a commit that goes on being tried would land on the new one.
test('a commit to a topic that does not exist fails at once', async () => {
  const Runner = require('kafkajs/src/consumer/runner') as new (options: object) => {
    running: boolean
    commitOffsets(offsets: object): Promise<void>
  }
  const missing = Object.assign(new Error('no such topic'), { type: 'UNKNOWN_TOPIC_OR_PARTITION', retriable: true })
  let commits = 0
  const consumerGroup = {
    commitOffsets() {
      commits += 1
      return Promise.reject(missing)
    },
  }
  const silent = { debug: () => undefined, info: () => undefined, namespace: () => silent }
  const runner = new Runner({ logger: silent, consumerGroup, retry: { initialRetryTime: 1, retries: 3 } })
  runner.running = true
  await expect(runner.commitOffsets({ topics: [] })).rejects.toBe(missing)
  expect(commits).toBe(1)
})

test('a member without an id joins before it fetches, also when the join has failed once', async () => {
  const Runner = require('kafkajs/src/consumer/runner') as new (options: object) => {
    running: boolean
    fetchManager: object
    scheduleFetchManager(): void
  }
  const steps: string[] = []
  const fetched = Promise.withResolvers<void>()
  const consumerGroup = {
    memberId: null as string | null,
    joinAndSync() {
      steps.push('join')
      if (steps.length === 1) return Promise.reject(new Error('the broker has gone'))
      consumerGroup.memberId = 'me'
      return Promise.resolve()
    },
  }
  const silent = { debug: () => undefined, info: () => undefined, namespace: () => silent }
  const runner = new Runner({ logger: silent, consumerGroup, retry: { initialRetryTime: 1 } })
  runner.fetchManager = {
    start() {
      steps.push('fetch')
      runner.running = false
      fetched.resolve()
      return Promise.resolve()
    },
  }
  runner.running = true
  runner.scheduleFetchManager()
  await fetched.promise
  expect(steps).toEqual(['join', 'join', 'fetch'])
})

/** The record set of a fetch response, its length in front: one batch of format 2 with no records. */
function emptyBatch({ firstOffset, lastOffsetDelta }: { firstOffset: number; lastOffsetDelta: number }): Buffer {
  const batch = Buffer.alloc(61)
  batch.writeBigInt64BE(BigInt(firstOffset), 0)
  batch.writeInt32BE(49, 8)
  batch.writeInt8(2, 16)
  batch.writeInt32BE(lastOffsetDelta, 23)
  const length = Buffer.alloc(4)
  length.writeInt32BE(batch.length)
  return Buffer.concat([length, batch])
}

interface LongModule {
  fromValue(value: string | number): object
}

type Encode = (records: readonly object[]) => Buffer
type EncodeBatch = (batch: object) => Promise<{ readonly buffer: Buffer }>
interface DecodedBatch {
  readonly records: readonly {
    readonly offset: string
    readonly timestamp: string
    readonly key: Buffer | null
    readonly value: Buffer | null
    readonly headers: object
  }[]
}

describe('a batch of records is encoded and decoded in one pass', () => {
  const Long = require('kafkajs/src/utils/long') as LongModule
  const encodeRecords = require('kafkajs/src/protocol/recordBatch/record/v0/encodeRecords') as Encode
  const { RecordBatch } = require('kafkajs/src/protocol/recordBatch/v0') as { readonly RecordBatch: EncodeBatch }
  const Decoder = require('kafkajs/src/protocol/decoder') as new (buffer: Buffer) => object
  const decode = require('kafkajs/src/protocol/recordBatch/v0/decoder') as (decoder: object) => Promise<DecodedBatch>

  async function roundTrip(first: { offset: string; timestamp: string }, records: readonly object[]) {
    const batch = await RecordBatch({
      firstOffset: Long.fromValue(first.offset),
      firstTimestamp: Long.fromValue(first.timestamp),
      maxTimestamp: Long.fromValue(first.timestamp),
      lastOffsetDelta: records.length - 1,
      producerId: Long.fromValue(-1),
      recordCount: records.length,
      records: encodeRecords(
        records.map((record, offsetDelta) => ({ offsetDelta, key: null, value: null, timestampDelta: 0, ...record })),
      ),
    })
    return (await decode(new Decoder(batch.buffer))).records
  }

  test.each([
    ['1700000000000', 5, '1700000000005'],
    ['1700000000000', -5, '1699999999995'],
    ['-1', 0, '-1'],
    ['0', 2 ** 47, String(2 ** 47)],
    ['0', 2 ** 48, String(2 ** 48)],
    ['0', -(2 ** 48) - 1, String(-(2 ** 48) - 1)],
    ['0', 2 ** 52, String(2 ** 52)],
    ['9007199254740991', 1, '9007199254740992'],
    ['9223372036854775000', 800, '9223372036854775800'],
    ['-9223372036854775000', -800, '-9223372036854775800'],
  ])('timestamps of any size: %s and %i more', async (timestamp, timestampDelta, expected) => {
    const [record] = await roundTrip({ offset: '7', timestamp }, [{ timestampDelta }])
    expect(record).toMatchObject({ offset: '7', timestamp: expected })
  })

  test('header names are those of each record, also where they stand at the same place', async () => {
    const names = ['ce_id', 'ce_if', 'ce_i', 'ce_idx', 'constructor', 'prix-en-€', 'n'.repeat(100)]
    const records = [...names, ...names].map((name) => ({ timestampDelta: 0, headers: { [name]: ['1', '2'], x: '3' } }))
    const decoded = await roundTrip({ offset: '0', timestamp: '0' }, records)
    const read = decoded.map(({ headers }) => Object.entries(headers).map(([name, value]) => [name, String(value)]))
    const expected = (name: string) => [
      [name, '1,2'],
      ['x', '3'],
    ]
    expect(read).toEqual([...names, ...names].map(expected))
  })

  test('whatever a record holds comes back: nothing, null, text, bytes of any length', async () => {
    // Around the lengths at which a length itself takes a byte more.
    const lengths = [0, 1, 63, 64, 8_191, 8_192, 1_048_575, 1_048_576]
    const bytes = lengths.map((length) => Buffer.alloc(length, length % 251))
    const records = bytes.flatMap((each, index) => [
      { key: each, value: null, headers: { [`n${index}`]: each, none: null, list: [each, null, Buffer.from('z')] } },
      { key: null, value: each, headers: {} },
    ])
    const many = Array.from({ length: 300 }, (_, index) => ({ key: `key ${index}`, value: `prix € ${index}` }))
    const decoded = await roundTrip({ offset: '5', timestamp: '0' }, [...records, ...many])
    expect(decoded.map(({ offset }) => Number(offset))).toEqual(decoded.map((_, index) => index + 5))
    const shown = ({ key, value, headers }: object & { key: unknown; value: unknown; headers: object }): string =>
      inspect([key, value, Object.entries(headers)], { depth: null })
    expect(decoded.slice(0, records.length).map(shown)).toEqual(records.map(shown))
    expect(decoded.slice(records.length).map(({ key, value }) => ({ key: String(key), value: String(value) }))).toEqual(
      many,
    )
  })

  test('the check sum is CRC-32C', () => {
    const crc32C = require('kafkajs/src/protocol/recordBatch/crc32C') as (bytes: Buffer) => number
    // RFC 3720, B.4, and the check value of the catalogue of parametrised CRC algorithms.
    expect(crc32C(Buffer.alloc(32)).toString(16)).toBe('8a9136aa')
    expect(crc32C(Buffer.alloc(32, 0xff)).toString(16)).toBe('62a8ab43')
    expect(crc32C(Buffer.from('123456789')).toString(16)).toBe('e3069283')
    expect(crc32C(Buffer.alloc(0))).toBe(0)
  })
})
