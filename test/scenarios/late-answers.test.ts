/** An answer that comes after the deadline of its attempt: row A7. */
import { beforeAll, describe, expect, test } from 'vitest'
import {
  apply,
  createSourceTopic,
  lagOf,
  metric,
  removeEverything,
  startBarnabas,
  type Barnabas,
} from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { followTopics, type FollowedRecord, type FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Answer, Receiver } from '../support/receiver.ts'

const cleanUp = cleanUpAfterAll()
const patiently = { timeout: 20_000 }
const timeoutMs = 500

let prefix: string
let topic: string
let barnabas: Barnabas
let receiver: Receiver
let progress: FollowedTopics
/** The first attempt of an event is answered with this, as soon as the test says so; any later one with 204. */
const firstAnswers = new Map<string, PromiseWithResolvers<Answer>>()

beforeAll(async () => {
  prefix = randomName('late')
  cleanUp(() => removeEverything(prefix))
  receiver = await startReceiver(({ eventId, attempt }) => (attempt === 1 ? firstAnswers.get(eventId)!.promise : 204))
  cleanUp(() => receiver.close())
  topic = await createSourceTopic(prefix, 'late')
  barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  progress = await followTopics(plainKafka(), [`${prefix}.progress`])
  cleanUp(() => progress.stop())
})

/** One event to a subscription of its own; resolves when its attempt has timed out and its retry waits. */
async function timedOut(id: string, schedule: readonly string[]): Promise<{ answer(answer: Answer): void }> {
  firstAnswers.set(id, Promise.withResolvers<Answer>())
  const retry = { schedule }
  await apply(prefix, [{ id, topics: [topic], sink: receiver.url, types: [id], timeout: `${timeoutMs}ms`, retry }])
  await produce(plainKafka(), topic, [binaryEvent(id, { type: id })])
  await receiver.until(() => receiver.of(id).length === 1)
  await expect.poll(() => verdicts(id, 'retry'), patiently).toBe(1)
  return { answer: (answer) => firstAnswers.get(id)!.resolve(answer) }
}

const verdicts = (subscription: string, verdict: string) =>
  metric(barnabas.url, 'barnabas_verdicts_total', { subscription, verdict })
const isOf = (id: string) => (record: FollowedRecord) => String(record.key).startsWith(`${id}/`)
const values = (id: string) => progress.records.filter(isOf(id)).map(({ value }) => value?.toString() ?? null)

describe('an answer after the deadline (A7)', () => {
  test('that is a success withdraws the queued retry: one request, delivered once, and nothing is left of it', async () => {
    const { answer } = await timedOut('withdrawn', ['3s', '1s'])
    answer(200)
    await expect.poll(() => verdicts('withdrawn', 'done'), patiently).toBe(1)
    expect(receiver.of('withdrawn')).toHaveLength(1)
    expect(JSON.parse(values('withdrawn')[0]!)).toMatchObject({ kind: 'late-success', attempt: 1, status: 200 })
    await expect.poll(() => lagOf(`${prefix}.retrier`, `${prefix}.retry.2s`), patiently).toBe(0)
    // Whoever has used it up removes it.
    await expect.poll(() => values('withdrawn').at(-1), patiently).toBeNull()
    expect(receiver.of('withdrawn')).toHaveLength(1)
    const attempts = { subscription: 'withdrawn' }
    expect(await metric(barnabas.url, 'barnabas_attempts_total', attempts)).toBe(1)
    expect(await metric(barnabas.url, 'barnabas_events_delivered_total', attempts)).toBe(1)
    expect(await metric(barnabas.url, 'barnabas_retries_withdrawn_total', attempts)).toBe(1)
  })

  test('that is a failure changes nothing', async () => {
    const { answer } = await timedOut('failed', ['2s', '1s'])
    answer(503)
    await receiver.until(() => receiver.of('failed').length === 2)
    await expect.poll(() => verdicts('failed', 'done'), patiently).toBe(1)
    expect(receiver.of('failed').map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(values('failed')).toEqual([])
  })

  test('that comes not at all leaves the retry, and the connection is no one’s meanwhile', async () => {
    const { answer } = await timedOut('silent', ['1s', '1s'])
    await expect.poll(() => verdicts('silent', 'done'), patiently).toBe(1)
    expect(receiver.of('silent').map(({ attempt }) => attempt)).toEqual([1, 2])
    // Its event is delivered already; what is said now is used by nobody, and does no harm.
    answer(200)
    await expect.poll(() => values('silent').length, patiently).toBe(1)
    expect(await verdicts('silent', 'done')).toBe(1)
  })

  test('is read among records that are none: nothing is lost, and the process goes on', async () => {
    const id = 'damaged'
    const source = await createSourceTopic(prefix, id)
    await apply(prefix, [{ id, topics: [source], sink: receiver.url, retry: { schedule: ['2s', '1s'] } }])
    const stored = await readTopic(plainKafka(), `${prefix}.subscriptions`)
    const { value } = stored.findLast(({ key }) => key?.toString() === id)!
    const { generation } = JSON.parse(value!.toString()) as { readonly generation: number }
    const keyOf = (offset: number) => `${id}/${generation}/${source}/0/${offset}`

    const right = { kind: 'late-success', redrives: 0, attempt: 1, status: 200, at: new Date().toISOString() }
    const damaged: readonly (string | Buffer | null)[] = [
      null,
      '',
      '{"kind":"late-success"',
      'null',
      '[]',
      '7',
      Buffer.from([0xff, 0xfe, 0x00]),
      '['.repeat(200_000),
      ...[
        { ...right, kind: 'blocked' },
        { ...right, redrives: '0' },
        { ...right, redrives: 1 },
        { ...right, attempt: 0 },
        { ...right, attempt: null },
        { ...right, status: 503 },
        { ...right, status: '200' },
        { ...right, at: 1_700_000_000_000 },
        { ...right, at: 'tomorrow' },
        { ...right, more: 'x'.repeat(900_000) },
      ].map((each) => JSON.stringify(each)),
    ]
    const write = (key: string | Buffer, written: string | Buffer | null) =>
      produce(plainKafka(), `${prefix}.progress`, [{ key, value: written }])
    for (const key of ['', 'damaged', Buffer.from([0xff, 0x00]), `${keyOf(0)}/0`, 'k'.repeat(100_000)]) {
      await write(key, JSON.stringify(right))
    }
    for (const [offset, written] of damaged.entries()) await write(keyOf(offset), written)
    // The last one is right, whatever a later version has added: it is withdrawn, so everything before it was read.
    await write(keyOf(damaged.length), JSON.stringify({ ...right, later: { a: 1 } }))

    const ids = Array.from({ length: damaged.length + 1 }, (_, offset) => `damaged-${offset}`)
    for (const each of ids) {
      firstAnswers.set(each, Promise.withResolvers<Answer>())
      firstAnswers.get(each)!.resolve(503)
    }
    await produce(
      plainKafka(),
      source,
      ids.map((each) => binaryEvent(each)),
    )
    await expect.poll(() => verdicts(id, 'done'), patiently).toBe(ids.length)
    const attempts = ids.map((each) => receiver.of(each).map(({ attempt }) => attempt))
    expect(attempts).toEqual([...damaged.map(() => [1, 2]), [1]])
    expect(await metric(barnabas.url, 'barnabas_retries_withdrawn_total', { subscription: id })).toBe(1)
    expect((await fetch(`${barnabas.url}/readyz`)).status).toBe(200)
  })

  // It reads the damage of the test before this one when it starts again.
  test('withdraws it also when the process is killed in between', { timeout: 90_000 }, async () => {
    const { answer } = await timedOut('killed', ['10s', '1s'])
    // Its event waits in a tier, and is as old as that.
    const age = () => metric(barnabas.url, 'barnabas_oldest_parked_event_age_seconds', { subscription: 'killed' })
    expect(await age()).toBeGreaterThanOrEqual(timeoutMs / 1_000)
    answer(204)
    await progress.until((records) => records.some(isOf('killed')))
    await barnabas.process.kill('SIGKILL')
    barnabas = await startBarnabas(prefix)
    await expect.poll(() => verdicts('killed', 'done'), { timeout: 40_000 }).toBe(1)
    expect(receiver.of('killed')).toHaveLength(1)
  })
})
