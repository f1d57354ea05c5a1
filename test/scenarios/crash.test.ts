import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { apply, lagOf } from '../support/barnabas.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf, header } from '../support/followed-topics.ts'
import { createTopic, plainKafka, produce, readTopic } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { ReceivedRequest } from '../support/receiver.ts'
import { canRunOwnBroker, newDataDir, startOn } from '../support/start.ts'
import type { DataDir, OwnStart } from '../support/start.ts'

/** `kill -9` at any moment loses nothing and resets no count; the next start goes on at once. */
describe.skipIf(!(await canRunOwnBroker()))('kill -9 of start', () => {
  let dataDir: DataDir
  let run: OwnStart
  const kafka = () => plainKafka([`127.0.0.1:${dataDir.port}`])
  const applying = { KAFKA_BROKERS: '', BARNABAS_PARTITIONS: '2', BARNABAS_TIER_PARTITIONS: '2' }

  beforeAll(async () => {
    dataDir = await newDataDir()
    run = startOn(dataDir)
    applying.KAFKA_BROKERS = (await run.ready()).brokers
  })
  afterAll(async () => {
    await run?.kill()
    await dataDir?.remove()
  })

  test.each([{ broker: 'lives on' }, { broker: 'is killed too' }])(
    'between attempts 2 and 3 ($broker): attempt 3 comes with its number, when it is due',
    async ({ broker }) => {
      const name = `between-${broker.replaceAll(' ', '-')}`
      const receiver = await startReceiver(({ attempt }) => (attempt < 3 ? 503 : 200))
      onTestFinished(() => receiver.close())
      await createTopic(kafka(), name)
      const subscription = { id: name, topics: [name], sink: receiver.url, retry: { schedule: ['1s', '2s'] } }
      await apply('barnabas', [subscription], applying)
      await produce(kafka(), name, [binaryEvent(name)])
      await receiver.until((requests) => requests.length === 2)
      // Between the write of a retry record and the commit after it, a kill may let an attempt be made again.
      await run.process.line(new RegExp(`"subscription":"${name}".*attempt 2: Busy`))
      await expect.poll(() => lagOf('barnabas.retrier', 'barnabas.retry.1s', kafka()), { interval: 20 }).toBe(0)
      await run.kill()
      if (broker === 'is killed too') process.kill(await dataDir.brokerPid(), 'SIGKILL')

      run = startOn(dataDir)
      const ready = await run.ready()
      await receiver.until((requests) => requests.length === 3)
      expect(receiver.requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3])
      const records = await readTopic(kafka(), 'barnabas.retry.2s')
      const parked = records.find((record) => eventIdOf(record) === name && header(record, 'barnabas-attempts') === '2')
      const dueAt = Date.parse(header(parked!, 'barnabas-due-time') ?? '')
      const [, , { time }] = receiver.requests as [ReceivedRequest, ReceivedRequest, ReceivedRequest]
      expect(time).toBeGreaterThanOrEqual(dueAt)
      // The session time-out is 10 s: nobody waited for the members of the killed run.
      expect(time).toBeLessThan(Math.max(dueAt, ready.at) + 3_000)
      expect(run.messages()).toContain('took over from a former run that was killed')
    },
  )

  test('again and again while events flow: each is delivered or a dead letter, and no count starts anew', async () => {
    const random = seededRandom(20_261_130)
    const [topic, maxAttempts, kills, perRound] = ['stream', 3, 4, 40]
    // A third arrives at once, a third at its last attempt, a third never.
    const fate = (eventId: string) => Number(eventId) % 3
    const receiver = await startReceiver(({ eventId, attempt }) =>
      fate(eventId) === 0 || (fate(eventId) === 1 && attempt === maxAttempts) ? 200 : 503,
    )
    onTestFinished(() => receiver.close())
    await createTopic(kafka(), topic, 2)
    const retry = { schedule: ['1s', '1s'], maxAttempts }
    await apply('barnabas', [{ id: topic, topics: [topic], sink: receiver.url, retry }], applying)

    let produced = 0
    for (let round = 0; round <= kills; round++) {
      const ids = Array.from({ length: perRound }, (_, index) => String(produced + index))
      produced += perRound
      await produce(
        kafka(),
        topic,
        ids.map((id) => binaryEvent(id, { partition: Number(id) % 2 })),
      )
      if (round === kills) break
      // A random moment is a random number of requests further on: first attempts, retries, and all between.
      const until = receiver.requests.length + 1 + Math.floor(random() * perRound * 1.5)
      await receiver.until((requests) => requests.length >= until)
      await run.kill()
      run = startOn(dataDir)
      await run.ready()
    }

    const letters = await readTopic(
      kafka(),
      'barnabas.dead-letter',
      (messages) =>
        new Set(messages.map(eventIdOf).filter((id) => /^\d+$/.test(id ?? ''))).size >= Math.floor(produced / 3),
    )
    await receiver.until((requests) => {
      const answered = requests.filter(({ eventId, attempt }) => fate(eventId) === 0 || attempt === maxAttempts)
      return new Set(answered.map(({ eventId }) => eventId)).size === produced
    })
    const dead = new Set(letters.map(eventIdOf))
    const byEvent = Map.groupBy(receiver.requests, ({ eventId }) => eventId)
    for (let id = 0; id < produced; id++) {
      const attempts = (byEvent.get(String(id)) ?? []).map(({ attempt }) => attempt)
      // A kill between a retry record and the commit after it makes the attempt before it again; no count jumps or
      // starts anew otherwise.
      expect(attempts.filter((attempt) => attempt === 1).length).toBeLessThanOrEqual(kills + 1)
      for (const [index, attempt] of attempts.entries()) {
        const before = attempts.slice(0, index)
        expect(attempt === 1 || before.includes(attempt - 1), `attempts of event ${id}: ${attempts.join()}`).toBe(true)
      }
      expect(new Set(attempts), `attempts of event ${id}`).toEqual(new Set(fate(String(id)) === 0 ? [1] : [1, 2, 3]))
      expect(dead.has(String(id)), `event ${id} is a dead letter`).toBe(fate(String(id)) === 2)
    }
  })
})

/** Numbers from 0 up to 1, the same ones for the same seed (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
