/** What packages/kafka/src/port.ts promises, on a real broker. */
import { createRequire } from 'node:module'
import net from 'node:net'
import { CompressionTypes } from 'kafkajs'
import type { KafkaRecord, OutgoingRecord } from '@barnabas/core'
import { ConsumerStartError, connectKafka } from '@barnabas/kafka'
import type { KafkaClient } from '@barnabas/kafka'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { plainKafka, produce, randomName, readTopic, testBrokers } from '../support/kafka.ts'
import {
  Arrivals,
  connectPort,
  lastOf,
  names,
  newMember,
  newTopic,
  silent,
  startMember,
  untilRecords,
  write,
} from './port-under-test.ts'

const FIND_COORDINATOR = 10

/** Real connections, cut where a request of this kind is written to them, as often as `times` says at that moment. */
function cutConnectionsAt(apiKey: number): { times: number } {
  const cuts = { times: 0 }
  const connect = net.connect
  const spy = vi.spyOn(net, 'connect').mockImplementation((...args: Parameters<typeof connect>) => {
    const socket = connect(...args)
    const send = socket.write.bind(socket) as (...args: unknown[]) => boolean
    socket.write = (request: unknown, ...rest: unknown[]) => {
      if (cuts.times === 0 || !Buffer.isBuffer(request) || request.readInt16BE(4) !== apiKey)
        return send(request, ...rest)
      cuts.times -= 1
      socket.destroy(new Error('cut by the test'))
      return false
    }
    return socket
  })
  onTestFinished(() => spy.mockRestore())
  return cuts
}

const bytes = (text: string): Buffer => Buffer.from(text)

/** Headers as they are hard to carry: null, several of one name, not UTF-8, names that objects have already. */
const oddHeaders: OutgoingRecord['headers'] = {
  plain: bytes('value'),
  nothing: null,
  empty: Buffer.alloc(0),
  several: [bytes('one'), null, bytes('two')],
  binary: Buffer.from([0xff, 0x00, 0xfe]),
  constructor: bytes('c'),
  ['__proto__']: bytes('p'),
}

function expectOddHeaders(headers: KafkaRecord['headers']): void {
  expect(Object.keys(headers).toSorted()).toEqual(Object.keys(oddHeaders).toSorted())
  for (const name of Object.keys(oddHeaders)) expect([name, headers[name]]).toEqual([name, oddHeaders[name]])
}

describe('a consumer', () => {
  test('hands over what was written, byte for byte, from the beginning, in order of offsets', async () => {
    const port = connectPort()
    const topic = await newTopic(port)
    const producer = port.producer()
    const written: OutgoingRecord[] = [
      { topic, key: bytes('key'), value: Buffer.from([0xff, 0x00]), headers: oddHeaders },
      { topic, key: null, value: null, headers: {} },
      { topic, key: Buffer.alloc(0), value: Buffer.alloc(0), headers: {} },
    ]
    const before = Date.now()
    expect(await Promise.all(written.map((record) => producer.produce(record)))).toEqual(
      [0, 1, 2].map((offset) => ({ kind: 'acknowledged', partition: 0, offset })),
    )
    const { records } = await startMember(port, { topics: [topic] })
    await records.until((all) => all.length === 3)
    for (const [offset, { key, value }] of written.entries()) {
      expect(records.items[offset]).toMatchObject({ topic, partition: 0, offset, key, value })
    }
    expect(records.items[0]?.timestamp).toBeGreaterThanOrEqual(before)
    expectOddHeaders(records.items[0]?.headers ?? {})
    // A length before each of key and value, and the number of headers.
    expect(records.items.slice(1).map((record) => record.bytes)).toEqual([3, 3])
    expect(records.items[0]?.bytes).toBeGreaterThan(3 + 'key'.length + 2)
    expect(port.log.filter(({ level }) => level !== 'debug')).toEqual([])
  })

  test('goes on at what was committed, and the metadata is read back', async () => {
    const port = connectPort()
    const topic = await newTopic(port)
    const groupId = randomName('contract')
    await write(port, topic, [0, 0, 0, 0])
    const first = await startMember(port, { topics: [topic], groupId })
    await first.records.until((all) => all.length === 4)
    const metadata = 'm'.repeat(4_000)
    expect(await first.consumer.commit([{ topic, partition: 0, offset: 2, metadata }])).toBe(true)
    await first.consumer.stop()
    expect(await port.admin.committed(groupId, [topic, 'another'])).toEqual([
      { topic, partition: 0, offset: 2, metadata },
    ])
    const second = await startMember(port, { topics: [topic], groupId })
    await second.records.until((all) => all.length === 2)
    expect(second.records.items.map(({ offset }) => offset)).toEqual([2, 3])
  })

  test('fetches together what keeps coming, where it may be gathered (D2)', async () => {
    const port = connectPort()
    const topic = await newTopic(port)
    const { records, batches } = await startMember(port, { topics: [topic], gatheredBytes: 1024 * 1024 })
    const count = 100
    const since = performance.now()
    for (let index = 0; index < count; index += 1) await write(port, topic, [0])
    await records.until((all) => all.length === count)
    // A fetch that comes back empty after its 200 ms is followed by one that waits for nothing.
    const fetchesMax = 3 + (2 * (performance.now() - since)) / 200
    expect(batches.items.length).toBeLessThan(fetchesMax)
  })

  test('commits only what is its own', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 2)
    const groupId = randomName('contract')
    const one = await startMember(port, { topics: [topic], groupId })
    const other = await startMember(port, { topics: [topic], groupId })
    await one.assignments.until((all) => all.length === 2)
    const mine = lastOf(one.assignments).kept.map((partition) => ({ ...partition, offset: 0, metadata: 'mine' }))
    const foreign = lastOf(other.assignments).gained.map((partition) => ({
      ...partition,
      offset: 0,
      metadata: 'foreign',
    }))
    expect([mine.length, foreign.length]).toEqual([1, 1])
    expect(await one.consumer.commit([...mine, ...foreign])).toBe(true)
    expect(await port.admin.committed(groupId, [topic])).toEqual(mine)
  })

  test('keeps its place in the partitions that it keeps, and only the others move (D4)', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 4)
    const groupId = randomName('contract')
    await write(port, topic, [0, 1, 2, 3], 'before')
    const one = await startMember(port, { topics: [topic], groupId })
    await one.records.until((all) => all.length === 4)
    const other = await startMember(port, { topics: [topic], groupId })
    await one.assignments.until((all) => all.length === 2)
    const { kept, lost, gained } = lastOf(one.assignments)
    expect([kept.length, lost.length, gained.length]).toEqual([2, 2, 0])
    expect(names(lastOf(other.assignments).gained)).toEqual(names(lost))
    // Nothing was committed, so what moved is delivered again there, and only there.
    await other.records.until((all) => all.length === 2)
    await write(port, topic, [0, 1, 2, 3], 'after')
    await one.records.until((all) => all.length === 6)
    await other.records.until((all) => all.length === 4)
    expect(one.records.items.slice(4).map(({ value, offset }) => `${String(value)} ${offset}`)).toEqual([
      'after 1',
      'after 1',
    ])
    expect(names(one.records.items.slice(4))).toEqual(names(kept))
  })

  test('is told before it rejoins, while its commits still count, and is not kept out for longer than two seconds', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 2)
    const groupId = randomName('contract')
    const told: (boolean | string)[] = []
    const one = await startMember(port, {
      topics: [topic],
      groupId,
      async onRejoining() {
        told.push(await one.consumer.commit([{ topic, partition: 0, offset: 0, metadata: 'before the rejoin' }]))
        await new Promise(() => {})
      },
      onUnsettled: () => void (told.at(-1) === 'unsettled' || told.push('unsettled')),
      onAssigned: () => void told.push('assigned'),
    })
    expect(told).toEqual(['unsettled', 'assigned'])
    const startedAt = Date.now()
    const two = await startMember(port, { topics: [topic], groupId })
    await two.assignments.until((all) => all.at(-1)?.gained.length === 1)
    await one.assignments.until((all) => all.length === 2)
    expect(told.slice(2, 5)).toEqual([true, 'unsettled', 'assigned'])
    expect(Date.now() - startedAt).toBeLessThan(5_000)
    expect(await port.admin.committed(groupId, [topic])).toMatchObject([{ metadata: 'before the rejoin' }])
  })

  test('with another subscription than its leader gets the topics that only it reads', async () => {
    const port = connectPort()
    const [old, added] = [await newTopic(port, 2), await newTopic(port, 2)]
    const groupId = randomName('contract')
    await write(port, added, [0, 1])
    const leader = await startMember(port, { topics: [old], groupId })
    const newer = await startMember(port, { topics: [old, added], groupId })
    await newer.records.until((all) => all.length === 2)
    expect(lastOf(leader.assignments).isLeader).toBe(true)
    await leader.assignments.until((all) => all.length === 2)
    expect(names(lastOf(leader.assignments).kept)).toEqual([`${old}/0`, `${old}/1`])
  })

  test('without a partition waits, and takes over at once when the other leaves', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 1)
    const groupId = randomName('contract')
    const one = await startMember(port, { topics: [topic], groupId })
    const idle = await startMember(port, { topics: [topic], groupId })
    expect(idle.assignments.items).toMatchObject([{ gained: [], kept: [], lost: [] }])
    const leftAt = Date.now()
    await one.consumer.stop()
    await idle.assignments.until((all) => (all.at(-1)?.gained.length ?? 0) === 1)
    expect(Date.now() - leftAt).toBeLessThan(3_000)
    await write(port, topic, [0])
    await idle.records.until((all) => all.length === 1)
  })

  test('stops without waiting for its long poll, and no callback comes afterwards', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 2)
    const stops = [1, 2, 3].map(async () => {
      const { consumer, batches, assignments } = await startMember(port, { topics: [topic] })
      // Polls are short for a second after a join; from then on a heartbeat is sent between two long ones.
      const heartbeatAt = consumer.lastHeartbeatAt
      await waitUntil(() => consumer.lastHeartbeatAt > heartbeatAt + 1_500)
      const stoppedAt = performance.now()
      await consumer.stop()
      return { tookMs: performance.now() - stoppedAt, batches, assignments }
    })
    const stopped = await Promise.all(stops)
    // The best of three, because the machine may be busy with something else.
    expect(Math.min(...stopped.map(({ tookMs }) => tookMs))).toBeLessThan(500)
    await write(port, topic, [0, 1])
    for (const { batches, assignments } of stopped)
      expect([batches.items.length, assignments.items.length]).toEqual([0, 1])
  })

  test('says that its generation is over instead of committing, and comes back as a new member', async () => {
    const clientId = randomName('contract')
    const port = connectPort({ clientId, sessionTimeoutMs: 6_000 })
    const topic = await newTopic(port, 2)
    const groupId = randomName('contract')
    const one = await startMember(port, { topics: [topic], groupId })
    expect(await port.admin.removeMembers('another client', groupId)).toBe(0)
    expect(await port.admin.removeMembers(clientId, groupId)).toBe(1)
    expect(await one.consumer.commit([{ topic, partition: 0, offset: 0, metadata: '' }])).toBe(false)
    // Before that the client may have joined once more by itself, as the same member.
    const before = one.assignments.items[0]?.memberId
    await one.assignments.until((all) => all.at(-1)?.memberId !== before)
    // Somebody else may have had them meanwhile.
    expect(names(lastOf(one.assignments).lost)).toEqual([`${topic}/0`, `${topic}/1`])
    expect(names(lastOf(one.assignments).gained)).toEqual([`${topic}/0`, `${topic}/1`])
    expect(one.failures.items).toEqual([])
  })
})

describe('a generation that a member did not see', () => {
  test('may have given what it had to others: nothing is kept', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 2)
    const groupId = randomName('contract')
    const one = await startMember(port, { topics: [topic], groupId })
    const [first] = one.assignments.items
    // The second generation is there for all but the first member, whose answer says that the group goes on to a third.
    const { prototype } = createRequire(import.meta.url)('kafkajs/src/broker') as {
      readonly prototype: { syncGroup(request: { readonly memberId: string }): Promise<unknown> }
    }
    const { syncGroup } = prototype
    const unseen = vi.spyOn(prototype, 'syncGroup').mockImplementation(async function (this: unknown, request) {
      const answer = await syncGroup.call(this as typeof prototype, request)
      if (request.memberId !== first?.memberId) return answer
      unseen.mockRestore()
      throw Object.assign(new Error('the group is rebalancing'), { type: 'REBALANCE_IN_PROGRESS' })
    })
    onTestFinished(() => unseen.mockRestore())

    const other = await startMember(port, { topics: [topic], groupId })
    await one.assignments.until((all) => all.length === 2)
    const last = lastOf(one.assignments)
    expect([last.memberId, last.generationId]).toEqual([first?.memberId, (first?.generationId ?? 0) + 2])
    expect(names(last.kept)).toEqual([])
    expect(names(last.lost)).toEqual([`${topic}/0`, `${topic}/1`])
    expect(last.gained).toHaveLength(1)
    await other.assignments.until((all) => all.length === 2)
    expect(lastOf(other.assignments).kept).toHaveLength(1)
  })
})

describe('a connection that ends while a member looks for its coordinator', () => {
  test('ends no consumer: one that starts joins later, one that was in the group comes back', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 1)
    const groupId = randomName('contract')
    const cuts = cutConnectionsAt(FIND_COORDINATOR)
    cuts.times = 1
    const first = await startMember(port, { topics: [topic], groupId })
    expect(cuts.times).toBe(0)

    const second = await startMember(port, { topics: [topic], groupId })
    cuts.times = 1
    await second.consumer.stop()
    await first.assignments.until(() => cuts.times === 0)
    await write(port, topic, [0])
    await untilRecords(first, (all) => all.length === 1)
    expect(first.failures.items).toEqual([])
  })
})

describe('a client that waits for ever for something that never comes', () => {
  test('is replaced by a new member, which has lost everything and goes on at what was committed', async () => {
    const port = connectPort({ sessionTimeoutMs: 6_000 })
    const topic = await newTopic(port, 2)
    const member = await startMember(port, { topics: [topic] })
    await write(port, topic, [0, 1], 'first')
    await untilRecords(member, (all) => all.length === 2)
    await member.consumer.commit([0, 1].map((partition) => ({ topic, partition, offset: 1, metadata: '' })))

    const { prototype } = createRequire(import.meta.url)('kafkajs/src/consumer/consumerGroup') as {
      readonly prototype: { fetch(nodeId: string): Promise<unknown> }
    }
    const hanging = vi.spyOn(prototype, 'fetch').mockImplementationOnce(() => new Promise(() => {}))
    onTestFinished(() => hanging.mockRestore())
    // The fetch that was under way would still bring what is written now.
    await vi.waitFor(() => expect(hanging).toHaveBeenCalled(), { interval: 1, timeout: 5_000 })
    await write(port, topic, [0, 1], 'second')
    await untilRecords(member, (all) => all.length === 4)
    const [before, after] = member.assignments.items
    expect(after?.memberId).not.toBe(before?.memberId)
    for (const one of [after?.lost ?? [], after?.gained ?? []]) expect(names(one)).toEqual([`${topic}/0`, `${topic}/1`])
    expect(member.records.items.filter(({ offset }) => offset === 1)).toHaveLength(2)
    expect(member.failures.items).toEqual([])
    expect(port.log.filter(({ level }) => level === 'warn')).toHaveLength(1)
    expect(await member.consumer.commit([{ topic, partition: 0, offset: 2, metadata: '' }])).toBe(true)
    await member.consumer.stop()
  })
})

describe('pause, resume and seek', () => {
  test('a paused partition hands over nothing, also of the batch under way, until it is resumed', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 2)
    await write(port, topic, [0, 1, 0, 1])
    const both = [0, 1].map((partition) => ({ topic, partition }))
    const member = newMember(port, { topics: [topic], onRecords: () => member.consumer.pause(both) })
    await member.consumer.start()
    await member.batches.until((all) => all.length === 1)
    const heartbeatAt = member.consumer.lastHeartbeatAt
    await write(port, topic, [0, 1])
    await waitUntil(() => member.consumer.lastHeartbeatAt > heartbeatAt + 500)
    expect(member.batches.items).toHaveLength(1)
    const [first] = member.batches.items
    const second = { topic, partition: 1 - (first?.partition ?? 0) }
    member.consumer.resume([second])
    await member.batches.until((all) => all.length === 2)
    expect(member.batches.items[1]).toMatchObject({ ...second, nextOffset: 3 })
    expect(member.batches.items[1]?.records.map(({ offset }) => offset)).toEqual([0, 1, 2])
    expect(member.assignments.items).toHaveLength(1)
  })

  test('pauses of kept partitions outlive a rebalance, those of lost ones do not', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 2)
    const groupId = randomName('contract')
    const one = await startMember(port, { topics: [topic], groupId })
    one.consumer.pause([0, 1].map((partition) => ({ topic, partition })))
    const other = await startMember(port, { topics: [topic], groupId })
    await one.assignments.until((all) => all.length === 2)
    const { kept, lost } = lastOf(one.assignments)
    await write(port, topic, [0, 1])
    await other.records.until((all) => all.length === 1)
    await other.consumer.stop()
    await one.assignments.until((all) => all.length === 3)
    expect(names(lastOf(one.assignments).gained)).toEqual(names(lost))
    await one.records.until((all) => all.length === 1)
    expect(names(one.records.items)).toEqual(names(lost))
    one.consumer.resume(kept)
    await one.records.until((all) => all.length === 2)
  })

  test('a pause and a seek in onAssigned come before the first record', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 2)
    await write(port, topic, [0, 0, 0, 1, 1])
    const member = newMember(port, {
      topics: [topic],
      onAssigned: () => {
        member.consumer.pause([{ topic, partition: 1 }])
        member.consumer.seek({ topic, partition: 0 }, 2)
      },
    })
    await member.consumer.start()
    await member.records.until((all) => all.length === 1)
    member.consumer.resume([{ topic, partition: 1 }])
    await member.records.until((all) => all.length === 3)
    expect(member.records.items.map(({ partition, offset }) => `${partition}:${offset}`)).toEqual(['0:2', '1:0', '1:1'])
  })

  test('a seek back hands the same records over again, a seek of a lost partition is forgotten', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 2)
    const groupId = randomName('contract')
    await write(port, topic, [0, 0, 1, 1])
    const one = await startMember(port, { topics: [topic], groupId })
    await one.records.until((all) => all.length === 4)
    one.consumer.seek({ topic, partition: 0 }, 1)
    await one.records.until((all) => all.length === 5)
    expect(lastOf(one.records)).toMatchObject({ partition: 0, offset: 1 })
    const other = await startMember(port, { topics: [topic], groupId })
    await one.assignments.until((all) => all.length === 2)
    const [lost] = lastOf(one.assignments).lost
    if (lost === undefined) throw new Error('nothing was lost')
    one.consumer.seek(lost, 2)
    await other.consumer.stop()
    await one.records.until((all) => all.length === 7)
    expect(one.records.items.slice(5)).toMatchObject([
      { ...lost, offset: 0 },
      { ...lost, offset: 1 },
    ])
  })

  test.each([
    { others: 'paused', idlePartitions: 0 },
    { others: 'idle in a long poll', idlePartitions: 1 },
  ])('a resumed partition is fetched at once while the others are $others', async ({ idlePartitions }) => {
    const port = connectPort()
    const topic = await newTopic(port, 8 + idlePartitions)
    const eight = Array.from({ length: 8 }, (_, partition) => ({ topic, partition }))
    const member = await startMember(port, { topics: [topic] })
    const delays: number[] = []
    for (let round = 0; round < 2; round++) {
      member.consumer.pause(eight)
      await write(
        port,
        topic,
        eight.map(({ partition }) => partition),
      )
      // Until the loop sleeps or waits in a long poll again.
      const heartbeatAt = member.consumer.lastHeartbeatAt
      await waitUntil(() => member.consumer.lastHeartbeatAt > heartbeatAt + 1_500)
      for (const one of eight) {
        const before = member.records.items.length
        const resumedAt = performance.now()
        member.consumer.resume([one])
        await member.records.until((all) => all.length > before)
        delays.push(performance.now() - resumedAt)
        // A round trip, so that the loop is in its next poll when the next one is resumed.
        await port.admin.brokerCount()
      }
    }
    expect(delays).toHaveLength(16)
    // Alone on the machine it is 5 ms, 30 ms at most; waiting for a poll or a sleep would be up to 1,000.
    delays.sort((a, b) => a - b)
    expect(delays[8]).toBeLessThan(150)
    expect(delays.at(-1)).toBeLessThan(500)
  })
})

describe('control records', () => {
  test('aborted ones are skipped, and reading comes to the very end', async () => {
    const port = connectPort()
    const topic = await newTopic(port)
    // It reads along, so the aborted transaction comes in a fetch that holds nothing else.
    const { batches, records } = await startMember(port, { topics: [topic] })
    const producer = plainKafka().producer({
      transactionalId: randomName('contract'),
      idempotent: true,
      maxInFlightRequests: 1,
    })
    await producer.connect()
    for (const [value, end] of [
      ['kept', 'commit'],
      ['dropped', 'abort'],
    ] as const) {
      const transaction = await producer.transaction()
      await transaction.send({ topic, messages: [{ value }] })
      await transaction[end]()
    }
    await producer.disconnect()
    await batches.until((all) => all.at(-1)?.nextOffset === 4)
    expect(records.items.map(({ value }) => String(value))).toEqual(['kept'])

    const read: string[] = []
    const reader = port.logReader({ topic, from: 'beginning', onRecord: ({ value }) => read.push(String(value)) })
    await reader.start()
    expect(read).toEqual(['kept'])
  })
})

describe('compressed records', () => {
  test.each(['GZIP', 'Snappy', 'LZ4', 'ZSTD'] as const)('%s is read', async (codec) => {
    const port = connectPort()
    const topic = await newTopic(port)
    await writeCompressed(topic, CompressionTypes[codec])
    const { records } = await startMember(port, { topics: [topic] })
    await records.until((all) => all.length === 2)
    expect(records.items.map(({ value }) => value?.length)).toEqual([10_000, 1])
  })

  test('with a codec that is not known end the consumer, naming codec, topic and partition', async () => {
    // Writing needs the codec that reading must not know.
    connectPort()
    onTestFinished(() => void connectKafka({ brokers: testBrokers(), clientId: 'contract', logger: silent }))
    const topic = await newTopic(connectPort(), 3)
    await writeCompressed(topic, CompressionTypes.ZSTD, 2)
    const port = connectPort({ codecs: ['gzip', 'snappy', 'lz4'] })
    const { failures } = await startMember(port, { topics: [topic] })
    await failures.until((all) => all.length === 1)
    expect(failures.items).toEqual([
      {
        code: 'UNKNOWN_CODEC',
        message: `partition 2 of topic ${topic} holds records compressed with zstd, which is not known here`,
      },
    ])
  })
})

describe('a topic that is missing', () => {
  test('lets start reject, by name', async () => {
    const port = connectPort()
    const [topic, missing] = [await newTopic(port), randomName('missing')]
    const { consumer, failures } = newMember(port, { topics: [topic, missing] })
    const failure = await consumer.start().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ConsumerStartError)
    expect(failure).toMatchObject({ failure: { code: 'UNKNOWN_TOPIC', message: `topic ${missing} does not exist` } })
    expect(failures.items).toEqual([])
  })

  test('because it was deleted ends the consumer, by name', async () => {
    const port = connectPort()
    const [topic, deleted] = [await newTopic(port), await newTopic(port)]
    const { failures } = await startMember(port, { topics: [topic, deleted] })
    await port.admin.deleteTopics([deleted])
    await failures.until((all) => all.length === 1)
    expect(failures.items).toEqual([{ code: 'UNKNOWN_TOPIC', message: `topic ${deleted} does not exist` }])
  })

  test('because it was deleted does not keep a commit waiting', async () => {
    const port = connectPort()
    const topic = await newTopic(port)
    await write(port, topic, [0])
    const { consumer, records } = await startMember(port, { topics: [topic] })
    await records.until((all) => all.length === 1)
    await port.admin.deleteTopics([topic])
    const startedAt = Date.now()
    const committed = consumer.commit([{ topic, partition: 0, offset: 1, metadata: '' }])
    await expect(committed).rejects.toThrow('does not host this topic-partition')
    await consumer.stop()
    expect(Date.now() - startedAt).toBeLessThan(5_000)
  })

  test('because it was deleted and is there again is read from its start, and the batch says so', async () => {
    const port = connectPort()
    const topic = await newTopic(port)
    await write(port, topic, [0, 0, 0], 'former')
    const { records, batches } = await startMember(port, { topics: [topic] })
    await records.until((all) => all.length === 3)
    await port.admin.deleteTopics([topic])
    await port.admin.createTopics([{ topic, partitions: 1, replication: 1, config: {} }])
    await write(port, topic, [0], 'new')
    await records.until((all) => all.length === 4)
    expect(batches.items.map(({ startsAnew }) => startsAnew).at(-1)).toBe(true)
    expect(batches.items.slice(0, -1).every(({ startsAnew }) => startsAnew === undefined)).toBe(true)
    const last = records.items.at(-1)
    expect([last?.offset, last?.value?.toString()]).toEqual([0, 'new'])
  })

  test('is unavailable to a producer, and does not disturb its other topics, deleted ones neither', async () => {
    const port = connectPort()
    const [topic, deleted] = [await newTopic(port), await newTopic(port)]
    const producer = port.producer()
    const record = { key: null, value: bytes('x'), headers: {} }
    expect(await producer.produce({ ...record, topic: deleted })).toMatchObject({ kind: 'acknowledged' })
    await port.admin.deleteTopics([deleted])
    const toDeleted = producer.produce({ ...record, topic: deleted })
    const toMissing = producer.produce({ ...record, topic: randomName('missing') })
    const startedAt = Date.now()
    for (let offset = 0; offset < 20; offset++) {
      expect(await producer.produce({ ...record, topic })).toEqual({ kind: 'acknowledged', partition: 0, offset })
    }
    expect(Date.now() - startedAt).toBeLessThan(2_000)
    expect(await toDeleted).toEqual({
      kind: 'unavailable',
      message: `topic ${deleted} does not exist`,
      isMissing: true,
    })
    expect(await toMissing).toMatchObject({ kind: 'unavailable' })
  })
})

describe('a producer', () => {
  test('writes the records of a partition in the order of the calls, many at a time', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 2)
    const producer = port.producer()
    const results = await Promise.all(
      Array.from({ length: 1_300 }, (_, index) =>
        producer.produce({ topic, partition: index % 2, key: null, value: bytes(String(index)), headers: {} }),
      ),
    )
    expect(results).toEqual(
      Array.from({ length: 1_300 }, (_, index) => ({
        kind: 'acknowledged',
        partition: index % 2,
        offset: Math.floor(index / 2),
      })),
    )
    const read = await readTopic(plainKafka(), topic)
    for (const { partition, offset, value } of read) expect(Number(String(value))).toBe(Number(offset) * 2 + partition)
  })

  test('writes odd headers so that they are read as they were', async () => {
    const port = connectPort()
    const topic = await newTopic(port)
    const written = await port.producer().produce({ topic, key: null, value: null, headers: oddHeaders })
    expect(written.kind).toBe('acknowledged')
    const [read] = await readTopic(plainKafka(), topic)
    expectOddHeaders((read?.headers ?? {}) as KafkaRecord['headers'])
  })

  test('says of a record that it is too large, and only of that one', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 1, { 'max.message.bytes': '20000' })
    const producer = port.producer()
    const sizes = [1_000, 30_000, 1_000, 15_000, 15_000]
    const results = await Promise.all(
      sizes.map((size) => producer.produce({ topic, partition: 0, key: null, value: Buffer.alloc(size), headers: {} })),
    )
    expect(results.map((result) => (result.kind === 'refused' ? result.code : result.kind))).toEqual([
      'acknowledged',
      'RECORD_TOO_LARGE',
      'acknowledged',
      'acknowledged',
      'acknowledged',
    ])
  })

  test('says of a record that can never be written that it is invalid, and only of that one', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 1, { 'cleanup.policy': 'compact' })
    const producer = port.producer()
    const results = await Promise.all(
      [bytes('a'), null, bytes('b')].map((key) =>
        producer.produce({ topic, partition: 0, key, value: null, headers: {} }),
      ),
    )
    expect(results.map((result) => (result.kind === 'refused' ? result.code : result.kind))).toEqual([
      'acknowledged',
      'INVALID',
      'acknowledged',
    ])
  })
})

describe('a log reader', () => {
  test.each([
    { from: 'beginning' as const, read: ['0:0', '0:1', '0:2', '1:0'] },
    { from: 'end' as const, read: [] },
    { from: (partition: number) => (partition === 0 ? 2 : undefined), read: ['0:2', '1:0'] },
  ])('starts where it is told', async ({ from, read }) => {
    const port = connectPort()
    const topic = await newTopic(port, 2)
    await write(port, topic, [0, 0, 0, 1])
    const records: string[] = []
    const reader = port.logReader({
      topic,
      from,
      onRecord: ({ partition, offset }) => records.push(`${partition}:${offset}`),
    })
    await reader.start()
    expect(records.toSorted()).toEqual(read)
    await write(port, topic, [0, 1])
    await reader.caughtUp()
    expect(records.toSorted()).toEqual([...read, '0:3', '1:1'].toSorted())
  })

  test('raises an offset that was deleted to the beginning', async () => {
    const port = connectPort()
    const topic = await newTopic(port)
    await write(port, topic, [0, 0, 0])
    await port.admin.deleteRecords([{ topic, partition: 0, offset: 2 }])
    const offsets: number[] = []
    await port.logReader({ topic, from: () => 1, onRecord: ({ offset }) => offsets.push(offset) }).start()
    expect(offsets).toEqual([2])
    expect(await port.admin.offsets([topic])).toEqual([{ topic, partition: 0, low: 2, high: 3 }])
  })

  test('sees a new record within some milliseconds', async () => {
    const port = connectPort()
    const topic = await newTopic(port)
    const seen = new Arrivals<number>()
    await port.logReader({ topic, from: 'end', onRecord: () => seen.add(performance.now()) }).start()
    const producer = port.producer()
    const delays: number[] = []
    for (let round = 1; round <= 20; round++) {
      await producer.produce({ topic, key: null, value: null, headers: {} })
      const acknowledgedAt = performance.now()
      await seen.until((all) => all.length === round)
      delays.push(lastOf(seen) - acknowledgedAt)
    }
    expect(delays.toSorted((a, b) => a - b)[10]).toBeLessThan(50)
  })

  test('says once that its topic is missing, and reads it from its beginning when it is there', async () => {
    const port = connectPort()
    const topic = randomName('contract')
    const troubles = new Arrivals<string | null>()
    const records = new Arrivals<KafkaRecord>()
    const reader = port.logReader({
      topic,
      from: 'beginning',
      onRecord: (record) => records.add(record),
      onTrouble: (trouble) => troubles.add(trouble),
    })
    const started = reader.start()
    await troubles.until((all) => all.length === 1)
    await createTopicNamed(port, topic)
    await write(port, topic, [0])
    await started
    await records.until((all) => all.length === 1)
    expect(troubles.items).toEqual([`topic ${topic} does not exist`, null])
  })
})

describe('the admin', () => {
  test('makes what is missing, tells what was refused and why, and leaves alone what is there', async () => {
    const port = connectPort()
    const there = await newTopic(port, 3)
    const [fresh, refused] = [randomName('contract'), randomName('contract')]
    onTestFinished(() => connectAndDelete(fresh))
    const spec = { partitions: 2, replication: 1, config: { 'retention.ms': '-1' } }
    const result = await port.admin.createTopics([
      { topic: there, ...spec },
      { topic: fresh, ...spec },
      { topic: refused, ...spec, config: { 'retention.ms': 'soon' } },
    ])
    expect(result).toMatchObject({ created: [fresh], refused: [{ topic: refused, code: 'INVALID_CONFIG' }] })
    expect(await port.admin.describeTopics([there, fresh, refused])).toEqual([
      { topic: there, partitions: 3, replication: 1 },
      { topic: fresh, partitions: 2, replication: 1 },
    ])
    expect((await port.admin.topicConfig([fresh, refused])).get(fresh)?.['retention.ms']).toBe('-1')
    expect(await port.admin.brokerCount()).toBeGreaterThanOrEqual(1)
    const topics = await port.admin.topics()
    expect([topics.has(there), topics.has(refused)]).toEqual([true, false])
    expect(await port.admin.offsets([fresh, refused])).toEqual([
      { topic: fresh, partition: 0, low: 0, high: 0 },
      { topic: fresh, partition: 1, low: 0, high: 0 },
    ])
  })

  test('tells a topic that was deleted and made again from the former one, by its id', async () => {
    const port = connectPort()
    // More partitions and topics than a one-byte length counts.
    const [topic, other] = [await newTopic(port, 200), await newTopic(port)]
    const many = Array.from({ length: 150 }, () => randomName('contract'))
    const before = await port.admin.topicIds([topic, ...many, other])
    expect([...before.keys()].toSorted()).toEqual([topic, other].toSorted())
    expect([...before.values()].every((id) => /^[\w-]{22}$/.test(id))).toBe(true)
    expect(await port.admin.topicIds([other, topic])).toEqual(before)
    await port.admin.deleteTopics([topic])
    await port.admin.createTopics([{ topic, partitions: 1, replication: 1, config: {} }])
    const after = await port.admin.topicIds([topic, other])
    expect(after.get(topic)).toMatch(/^[\w-]{22}$/)
    expect(after.get(topic)).not.toBe(before.get(topic))
    expect(after.get(other)).toBe(before.get(other))
  })

  test('tells from which offset on records are of a time or later', async () => {
    const port = connectPort()
    const topic = await newTopic(port, 2)
    const messages = [1_000, 2_000, 3_000].map((time) => ({ partition: 0, value: 'x', timestamp: String(time) }))
    await produce(plainKafka(), topic, messages)
    const since = async (time: number) =>
      (await port.admin.offsetsSince([topic, randomName('missing')], time))
        .toSorted((a, b) => a.partition - b.partition)
        .map(({ offset }) => offset)
    expect(await since(1_000)).toEqual([0, null])
    expect(await since(2_001)).toEqual([2, null])
    expect(await since(3_001)).toEqual([null, null])
  })

  test('deletes topics so that others of their names can be made at once', async () => {
    const port = connectPort()
    const topics = await Promise.all(Array.from({ length: 4 }, () => newTopic(port, 200)))
    for (let round = 0; round < 5; round++) {
      await Promise.all(topics.map((topic) => port.admin.deleteTopics([topic])))
      const wanted = topics.map((topic) => ({ topic, partitions: 1, replication: 1, config: {} }))
      const { created } = await port.admin.createTopics(wanted)
      expect(created).toEqual(topics)
    }
  })

  test('deletes a group only when it has no members', async () => {
    const port = connectPort()
    const topic = await newTopic(port)
    const groupId = randomName('contract')
    const { consumer } = await startMember(port, { topics: [topic], groupId })
    await consumer.commit([{ topic, partition: 0, offset: 0, metadata: '' }])
    expect(await port.admin.deleteGroup(groupId)).toBe(false)
    await consumer.stop()
    expect(await port.admin.deleteGroup(groupId)).toBe(true)
    expect(await port.admin.committed(groupId, [topic])).toEqual([])
    expect(await port.admin.deleteGroup(groupId)).toBe(true)
  })

  test('is not disturbed by a topic that was deleted behind its back', async () => {
    const port = connectPort()
    const [topic, deleted] = [await newTopic(port), await newTopic(port)]
    expect(await port.admin.offsets([topic, deleted])).toHaveLength(2)
    await connectAndDelete(deleted)
    expect(await port.admin.offsets([topic, deleted])).toEqual([{ topic, partition: 0, low: 0, high: 0 }])
    expect(await port.admin.describeTopics([topic, deleted])).toHaveLength(1)
    await port.admin.deleteTopics([deleted])
  })
})

async function connectAndDelete(topic: string): Promise<void> {
  const port = connectKafka({ brokers: testBrokers(), clientId: 'contract-clean-up', logger: silent })
  await port.admin.deleteTopics([topic])
  await port.close()
}

async function createTopicNamed(port: KafkaClient, topic: string): Promise<void> {
  onTestFinished(() => connectAndDelete(topic))
  await port.admin.createTopics([{ topic, partitions: 1, replication: 1, config: {} }])
}

/** The second record is there to see that reading goes on behind the compressed batch. */
async function writeCompressed(topic: string, compression: CompressionTypes, partition = 0): Promise<void> {
  const producer = plainKafka().producer()
  await producer.connect()
  await producer.send({ topic, compression, messages: [{ partition, value: Buffer.alloc(10_000, 'abc') }] })
  await producer.send({ topic, messages: [{ partition, value: 'x' }] })
  await producer.disconnect()
}

/** For what no event tells: asks every 10 ms. */
async function waitUntil(isSo: () => boolean): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      if (!isSo()) return
      clearInterval(timer)
      resolve()
    }, 10)
  })
}
