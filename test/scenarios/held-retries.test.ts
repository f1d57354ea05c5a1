/**
 * A due retry that may not be attempted now leaves the tier, which all subscriptions share, for a topic of its own
 * subscription (design, promise 8; "Tiers"). What hangs here hangs until it is told to go on: nothing depends on time.
 */
import { decodeCommitMetadata } from '@barnabas/core'
import { expect, test, vi } from 'vitest'
import {
  apply,
  barnabasCommand,
  createSourceTopic,
  lagOf,
  removeEverything,
  startBarnabas,
} from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import { followTopics, header } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import type { Answer } from '../support/receiver.ts'
import { startReceiver } from '../support/receiver.ts'
import { retryRecord } from '../support/retry-records.ts'

const cleanUp = cleanUpAfterAll()
const numbered = (count: number) => Array.from({ length: count }, (_, index) => index)
const retry = { schedule: ['1s', '1s', '1s', '1s', '1s'] }

/** Barnabas under a prefix of its own, a receiver that hangs until it is let go, and retries that are due. */
async function startHanging(stem: string, env: Record<string, string> = {}) {
  const prefix = randomName(stem)
  cleanUp(() => removeEverything(prefix))
  let answer: Answer = 'hang'
  const receiver = await startReceiver(() => answer)
  cleanUp(() => receiver.close())
  const barnabas = await startBarnabas(prefix, env)
  cleanUp(() => barnabas.stop())
  const topic = await createSourceTopic(prefix, stem)
  const slow = { id: 'slow', topics: [topic], sink: receiver.url, timeout: '10m', concurrency: 8, retry }
  const held = `${prefix}.held.slow`
  return {
    prefix,
    topic,
    barnabas,
    receiver,
    slow,
    held,
    lag: () => lagOf(held, held),
    /** What hangs is cut off, and whatever comes is answered. */
    letGo(from: number) {
      answer = from
      receiver.cutOff()
    },
    async due(subscription: string, offsets: readonly number[]) {
      const control = await followControlTopics(prefix)
      const generation = String((await control.stored(subscription))['generation'])
      await control.stop()
      const records = offsets.map((offset) => ({
        ...retryRecord(`${subscription}-${offset}`, { subscription, generation, topic, offset }),
        partition: offset % 2,
      }))
      await produce(plainKafka(), `${prefix}.retry.now`, records)
    },
  }
}

/** How many records of the topic the group has committed as done, one by one or up to an offset. */
async function doneOf(groupId: string, topic: string): Promise<number> {
  const admin = plainKafka().admin()
  await admin.connect()
  try {
    const [committed] = await admin.fetchOffsets({ groupId, topics: [topic] })
    return committed!.partitions.reduce((sum, { offset, metadata }) => {
      const done = decodeCommitMetadata(metadata ?? '', Number(offset))?.done ?? []
      return sum + Number(offset) + done.reduce((length, { from, to }) => length + to - from, 0)
    }, 0)
  } finally {
    await admin.disconnect()
  }
}

/** More than the retrier keeps in memory. */
const eventCount = 6_000
const otherCount = 100

test(
  'retries that find their receiver hanging make no others late, and are attempted when it answers again',
  {
    timeout: 120_000,
  },
  async () => {
    const { prefix, topic, receiver, slow, due, lag, letGo } = await startHanging('held')
    const fast = await startReceiver(() => 200)
    cleanUp(() => fast.close())
    await apply(prefix, [slow, { id: 'fast', topics: [topic], sink: fast.url, retry }])

    await due('slow', numbered(eventCount))
    await receiver.until((requests) => requests.length === 8)
    await due('fast', numbered(otherCount))
    await fast.until((requests) => requests.length === otherCount)
    expect(receiver.requests).toHaveLength(8)
    // But for those that hang or wait for their place in memory, all are held, and wait for the subscription alone.
    await expect.poll(lag, { timeout: 20_000 }).toBeGreaterThan(eventCount - 600)

    letGo(200)
    const answered = (await receiver.until((requests) => requests.length === eventCount + 8)).slice(8)
    expect(new Set(answered.map(({ eventId }) => eventId)).size).toBe(eventCount)
    // Only what was cut off is at its fifth attempt: to be held counts for nothing.
    expect(answered.filter(({ attempt }) => attempt !== 4)).toHaveLength(8)
    await expect.poll(lag).toBe(0)
    expect(await readTopic(plainKafka(), `${prefix}.dead-letter`)).toEqual([])
  },
)

test(
  'a subscription that is deleted with retries held, parked and waiting: each becomes a dead letter, and the held topic goes',
  {
    // Less than an attempt hangs.
    timeout: 55_000,
  },
  async () => {
    const { prefix, receiver, slow, due, lag, letGo, held } = await startHanging('deleted', {
      BARNABAS_TIME_SCALE: '0.1',
    })
    await apply(prefix, [slow], { BARNABAS_TIME_SCALE: '0.1' })
    await due('slow', numbered(1_000))
    await receiver.until((requests) => requests.length === 8)
    await expect.poll(lag, { timeout: 20_000 }).toBeGreaterThan(400)

    const described = await barnabasCommand(prefix, ['describe', 'slow'])
    expect(described.status).toBe(0)
    expect(described.text).toMatch(/^held +[4-9]\d\d due retries wait for their turn$/m)

    expect(await barnabasCommand(prefix, ['delete', 'slow', '--yes'])).toMatchObject({ status: 0 })
    const letters = await followTopics(plainKafka(), [`${prefix}.dead-letter`])
    cleanUp(() => letters.stop())
    // What was under way ends as it ends; what waited behind it is attempted no more, and does not wait for that.
    await letters.until((all) => all.length >= 1_000 - 2 * 8)
    letGo(503)
    await letters.until((all) => all.length >= 1_000)
    expect(new Set(letters.records.map((each) => header(each, 'ce_id'))).size).toBe(1_000)
    expect(new Set(letters.records.map((each) => header(each, 'barnabas-dead-letter-reason')))).toEqual(
      new Set(['SubscriptionDeleted']),
    )
    const attempted = letters.records.filter((each) => header(each, 'barnabas-attempts') !== '3')
    expect(attempted.length).toBeLessThanOrEqual(2 * 8)

    const admin = plainKafka().admin()
    await admin.connect()
    cleanUp(() => admin.disconnect())
    await vi.waitUntil(async () => !(await admin.listTopics()).includes(held), 30_000)
    const groups = async () => (await admin.listGroups()).groups.map(({ groupId }) => groupId)
    await vi.waitUntil(async () => !(await groups()).includes(held), 30_000)
    expect(letters.records).toHaveLength(1_000)
  },
)

test(
  'a process that is killed while retries are held loses none, and counts none twice',
  { timeout: 120_000 },
  async () => {
    const { prefix, barnabas, receiver, slow, due, lag, letGo } = await startHanging('killed')
    await apply(prefix, [slow])
    await due('slow', numbered(2_000))
    await receiver.until((requests) => requests.length >= 8)
    // Each is in flight, waits in memory, or is held and committed: the kill falls between no write and its commit.
    await expect.poll(lag, { timeout: 20_000 }).toBe(2_000 - 8 - 500)
    await expect.poll(() => doneOf(`${prefix}.retrier`, `${prefix}.retry.now`)).toBe(2_000 - 8 - 500)
    await barnabas.process.kill('SIGKILL')
    const cutOff = receiver.requests.map(({ eventId }) => eventId)
    const before = receiver.requests.length
    letGo(200)

    const next = await startBarnabas(prefix)
    cleanUp(() => next.stop())
    const attempts = () => receiver.requests.slice(before)
    await receiver.until(() => new Set(attempts().map(({ eventId }) => eventId)).size === 2_000)
    await expect.poll(lag, { timeout: 20_000 }).toBe(0)
    await expect.poll(() => lagOf(`${prefix}.retrier`, `${prefix}.retry.now`), { timeout: 20_000 }).toBe(0)
    // Whoever was killed had counted none of what it had in flight; everything else is attempted once.
    expect(attempts().every(({ attempt }) => attempt === 4)).toBe(true)
    expect(attempts()).toHaveLength(2_000)
    expect(new Set(cutOff).size).toBe(before)
  },
)

test('a held topic that is deleted while retries are to be held is made again', { timeout: 60_000 }, async () => {
  const { prefix, receiver, slow, due, lag, letGo, held, barnabas } = await startHanging('remade')
  await apply(prefix, [slow])
  await due('slow', numbered(600))
  await receiver.until((requests) => requests.length >= 8)
  await expect.poll(lag, { timeout: 20_000 }).toBeGreaterThanOrEqual(600 - 8 - 500)
  const admin = plainKafka().admin()
  await admin.connect()
  cleanUp(() => admin.disconnect())
  await admin.deleteTopics({ topics: [held] })
  await vi.waitUntil(async () => !(await admin.listTopics()).includes(held), 10_000)

  const later = numbered(700).slice(600)
  await due('slow', later)
  await barnabas.process.line(new RegExp(`${held}.*a record cannot be written`))
  const written = async () => {
    const ends = await admin.fetchTopicOffsets(held).catch(() => [])
    return ends.reduce((sum, { high }) => sum + Number(high), 0)
  }
  await expect.poll(written, { timeout: 30_000 }).toBe(later.length)
  letGo(200)
})

test(
  'A12: those that were read when a probation begins are given back, and attempted once afterwards',
  { timeout: 60_000 },
  async () => {
    const started = await startHanging('given-back', { BARNABAS_LOG_LEVEL: 'debug' })
    const { prefix, barnabas, receiver, slow, held, due, lag, letGo } = started
    const probation = { after: 8, steps: ['2s'], lengths: { SocketError: '2s', GenericError: '2s' } }
    await apply(prefix, [{ ...slow, retry: { schedule: ['1h', 'repeat'], maxAttempts: 20 }, probation }])
    await due('slow', numbered(800))
    await receiver.until((requests) => requests.length === 8)
    // The retrier keeps some 500 in memory, which are skipped.
    await expect.poll(lag, { timeout: 20_000 }).toBeGreaterThan(200)
    const ids = (await readTopic(plainKafka(), held)).map((record) => header(record, 'ce_id'))

    letGo(500)
    const line = await barnabas.process.line(/"subscription":"slow".*held retries are given back/)
    expect((JSON.parse(line) as { readonly events: number }).events).toBeGreaterThan(0)
    letGo(200)
    await expect.poll(lag, { timeout: 30_000 }).toBe(0)
    const attempted = receiver.requests.map(({ eventId }) => eventId)
    expect(new Set(attempted).size).toBe(attempted.length)
    expect(attempted).toEqual(expect.arrayContaining(ids))
  },
)
