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
import { plainKafka, produce, randomName } from '../support/kafka.ts'
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
