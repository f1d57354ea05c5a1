/** When each attempt is made, compared with the policy: rows A5, A6, A8, A9, A10, A19, B1, B2, C3, C4. */
import { beforeAll, describe, expect, test } from 'vitest'
import { apply, createSourceTopic, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Written } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf, followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Answer, ReceivedRequest, Receiver } from '../support/receiver.ts'

const tierNames = ('now 1s 2s 4s 8s 16s 32s 64s 128s 256s 512s 10s 30s 1m 5m 10m 30m 1h 3h 6h 12h' as const).split(' ')
/** Nineteen of twenty attempts begin within this time after they fell due (interface: on an idle machine all of them) … */
const latenessUsualMs = 1_000
/** … and each of them within this one: two cores that run a broker, two services and the tests do stall. */
const latenessMaxMs = 3_000

/** A receiver whose answer is the path (`/503`, `/hang`), and all that is parked or given up. */
interface Stage {
  readonly receiver: Receiver
  readonly records: FollowedTopics
}

const cleanUp = cleanUpAfterAll()

/** Writes the subscriptions and one event for each of them, `eventsEach` times. */
async function openStage(timeScale: number, subscriptions: readonly Written[], eventsEach: number): Promise<Stage> {
  const prefix = randomName('schedules')
  const env = { BARNABAS_TIME_SCALE: String(timeScale) }
  const receiver = await startReceiver(({ path }): Answer => (path === '/hang' ? 'hang' : Number(path.slice(1))))
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  const barnabas = await startBarnabas(prefix, env)
  cleanUp(() => barnabas.stop())
  const topic = await createSourceTopic(prefix, 'schedules')
  const topics = [...tierNames.map((name) => `${prefix}.retry.${name}`), `${prefix}.dead-letter`]
  const records = await followTopics(plainKafka(), topics)
  cleanUp(() => records.stop())
  await apply(
    prefix,
    subscriptions.map(({ answer, ...subscription }) => ({
      topics: [topic],
      types: [subscription.id],
      // The longest, because it is scaled too: 30 s would be 150 ms.
      timeout: '10m',
      ...subscription,
      sink: `${receiver.url}/${String(answer)}`,
    })),
    env,
  )
  const events = subscriptions.flatMap(({ id }) =>
    Array.from({ length: eventsEach }, (_each, index) => binaryEvent(`${id}-${index}`, { type: id })),
  )
  await produce(plainKafka(), topic, events)
  return { receiver, records }
}

/** One event's life as seen from outside: requests, retry records by attempt, and its dead letter. */
interface Life {
  readonly requests: readonly ReceivedRequest[]
  /** For attempt n + 1 at index n: the records that waited for it, in the order of their hops. */
  readonly parked: readonly (readonly FollowedRecord[])[]
  readonly letter: FollowedRecord
}

const isLetter = (record: FollowedRecord) => record.topic.endsWith('.dead-letter')
const tierOf = ({ topic }: FollowedRecord) => topic.slice(topic.lastIndexOf('.') + 1)
const time = (record: FollowedRecord, name: string) => Date.parse(header(record, name)!)
const hops = (record: FollowedRecord) => Number(header(record, 'barnabas-hops'))

async function lifeOf({ receiver, records }: Stage, eventId: string): Promise<Life> {
  const isEnd = (record: FollowedRecord) => isLetter(record) && eventIdOf(record) === eventId
  const letter = (await records.until((all) => all.some(isEnd))).find(isEnd)!
  const attempts = Number(header(letter, 'barnabas-attempts'))
  // Each was written before the letter, but the follower may read the letter's topic first.
  const isParked = (record: FollowedRecord, attempt: number) =>
    !isLetter(record) && eventIdOf(record) === eventId && header(record, 'barnabas-attempts') === String(attempt)
  const isOver = header(letter, 'barnabas-dead-letter-reason') === 'TimeToLiveExceeded'
  const waits = Array.from({ length: isOver ? attempts : attempts - 1 }, (_each, index) => index + 1)
  const all = await records.until((read) => waits.every((attempt) => read.some((record) => isParked(record, attempt))))
  return {
    requests: receiver.of(eventId),
    parked: waits.map((attempt) =>
      all.filter((record) => isParked(record, attempt)).toSorted((one, other) => hops(one) - hops(other)),
    ),
    letter,
  }
}

/** What waits rests in its tiers: it does not go round and round until it is due. */
const hopsPerWaitMax = 8

const latenesses: number[] = []

/** Numbers without gap or repetition, no attempt before its due time, none long after it. */
function expectOnTime({ requests, parked }: Life): void {
  expect(requests.map(({ attempt }) => attempt)).toEqual(requests.map((_request, index) => index + 1))
  for (const [index, request] of requests.entries()) {
    if (index === 0) continue
    const dueTime = time(parked[index - 1]![0]!, 'barnabas-due-time')
    expect(request.time).toBeGreaterThanOrEqual(dueTime)
    expect(request.time - dueTime).toBeLessThanOrEqual(latenessMaxMs)
    latenesses.push(request.time - dueTime)
    expect(parked[index - 1]!.length).toBeLessThanOrEqual(hopsPerWaitMax)
  }
}

/** The delays from each outcome to the next due time; `attemptMs` is how long each attempt takes at least. */
function delaysOf({ requests, parked }: Life, attemptMs = 0): number[] {
  return parked.map(([record], index) => time(record!, 'barnabas-due-time') - requests[index]!.time - attemptMs)
}

/** Each delay at least as long as the policy says, and longer by no more than an attempt may take. */
function expectDelays(delays: readonly number[], expected: readonly (readonly [least: number, most: number])[]): void {
  expect(delays).toHaveLength(expected.length)
  for (const [index, [least, most]] of expected.entries()) {
    expect(delays[index]).toBeGreaterThanOrEqual(least)
    expect(delays[index]).toBeLessThanOrEqual(most + latenessMaxMs)
  }
}

const exactly = (...delaysMs: number[]) => delaysMs.map((delayMs) => [delayMs, delayMs] as const)

const list = (...schedule: string[]) => ({ schedule })
const listSubscriptions = [
  { id: 'growing', answer: 503, retry: list('500ms', '1s', '2s', '3s') },
  { id: 'shortened', answer: 500, retry: { ...list('200ms', '300ms', '1s'), maxAttempts: 3 } },
  { id: 'repeating', answer: 500, retry: { ...list('500ms', 'repeat'), maxAttempts: 4 } },
  { id: 'living', answer: 500, retry: { ...list('1s', 'repeat'), timeToLive: '2500ms' } },
  { id: 'hanging', answer: 'hang', timeout: '700ms', retry: list('1s') },
]

const timeScale = 0.005
const eventsEach = 5
const presetSubscriptions = [
  { id: 'event-grid', answer: 500, retry: { schedule: 'event-grid', maxAttempts: 10, timeToLive: '30m' } },
  { id: 'busy', answer: 503, retry: { schedule: 'event-grid', maxAttempts: 3 } },
  { id: 'timed-out', answer: 408, retry: { schedule: 'event-grid', maxAttempts: 3 } },
  { id: 'bad-request', answer: 400, retry: { schedule: 'event-grid' } },
  { id: 'kubernetes', answer: 400, retry: { schedule: 'event-grid-kubernetes', maxAttempts: 3 } },
  { id: 'backoff', answer: 503, retry: { schedule: 'backoff' } },
  { id: 'decay', answer: 503, retry: { schedule: 'exponential-decay', maxAttempts: 11 } },
  { id: 'composed', answer: 503, retry: { schedule: ['23m'] } },
]

let lists: Stage
let presets: Stage
beforeAll(async () => {
  // Both at once: most of their time is waiting.
  ;[lists, presets] = await Promise.all([
    openStage(1, listSubscriptions, 1),
    openStage(timeScale, presetSubscriptions, eventsEach),
  ])
})

describe('lists of delays', () => {
  test('are kept as written, each in its tier, and end with a dead letter', async () => {
    const life = await lifeOf(lists, 'growing-0')
    expectOnTime(life)
    expectDelays(delaysOf(life), exactly(500, 1_000, 2_000, 3_000))
    // Less than a second is waited out in memory behind `now`, the last second of three behind `2s`.
    expect(life.parked.map((records) => records.map(tierOf))).toEqual([['now'], ['1s'], ['2s'], ['2s']])
    expect(life.requests).toHaveLength(5)
    expect(header(life.letter, 'barnabas-dead-letter-reason')).toBe('MaxDeliveryAttemptsExceeded')
    expect(time(life.letter, 'barnabas-dead-letter-time')).toBeGreaterThanOrEqual(life.requests[4]!.time)
    expect(time(life.letter, 'barnabas-dead-letter-time') - life.requests[4]!.time).toBeLessThanOrEqual(latenessMaxMs)
  })

  test('are shortened by maxAttempts (A9)', async () => {
    const life = await lifeOf(lists, 'shortened-0')
    expectOnTime(life)
    expectDelays(delaysOf(life), exactly(200, 300))
    expect(header(life.letter, 'barnabas-dead-letter-reason')).toBe('MaxDeliveryAttemptsExceeded')
  })

  test('repeat their last delay until maxAttempts', async () => {
    const life = await lifeOf(lists, 'repeating-0')
    expectOnTime(life)
    expectDelays(delaysOf(life), exactly(500, 500, 500))
    expect(life.requests).toHaveLength(4)
    expect(header(life.letter, 'barnabas-dead-letter-reason')).toBe('MaxDeliveryAttemptsExceeded')
  })

  test('end by timeToLive, which is looked at when the next attempt falls due (A9, A10)', async () => {
    const life = await lifeOf(lists, 'living-0')
    expectOnTime(life)
    expect(life.requests).toHaveLength(3)
    expect(header(life.letter, 'barnabas-attempts')).toBe('3')
    expect(header(life.letter, 'barnabas-dead-letter-reason')).toBe('TimeToLiveExceeded')
    const [last] = life.parked[2]!
    expect(time(last!, 'barnabas-expiry-time')).toBe(time(last!, 'barnabas-first-attempt-time') + 2_500)
    expect(time(last!, 'barnabas-due-time')).toBeGreaterThan(time(last!, 'barnabas-expiry-time'))
    expect(time(life.letter, 'barnabas-dead-letter-time')).toBeGreaterThanOrEqual(time(last!, 'barnabas-due-time'))
    expect(time(life.letter, 'barnabas-dead-letter-time')).toBeLessThanOrEqual(
      time(last!, 'barnabas-due-time') + latenessMaxMs,
    )
  })

  test('count from the deadline when the receiver hangs (A5)', async () => {
    const life = await lifeOf(lists, 'hanging-0')
    expectOnTime(life)
    // The receiver saw the request some milliseconds after the attempt began.
    expectDelays(delaysOf(life, 700), [[1_000 - 500, 1_000]])
    const first = time(life.parked[0]![0]!, 'barnabas-first-attempt-time')
    expect(time(life.parked[0]![0]!, 'barnabas-due-time') - first).toBeGreaterThanOrEqual(1_700)
  })
})

describe('the published schedules, two hundred times as fast', () => {
  const second = 1_000 * timeScale
  const minute = 60 * second

  const livesOf = (id: string) =>
    Promise.all(Array.from({ length: eventsEach }, (_each, index) => lifeOf(presets, `${id}-${index}`)))

  /** A delay of that many seconds, and 0 to 10 % of it more, at most 10 s (A8). */
  const spread = (...seconds: number[]) =>
    seconds.map((each) => [each * second, (each + Math.min(each / 10, 10)) * second] as const)

  /**
   * `10s`, or `30s|32s` where the random part of the delay reaches the next tier. A machine that is busy for some
   * milliseconds loses seconds here, and a shorter tier is right then: so one life of them is enough.
   */
  function expectTiers(lives: readonly Life[], nominal: readonly string[]): void {
    for (const [index, tier] of nominal.entries()) {
      const used = lives.map(({ parked }) => tierOf(parked[index]![0]!))
      expect(used.filter((each) => tier.split('|').includes(each))).not.toEqual([])
    }
  }

  test('event-grid with 30 minutes and 10 attempts: 6 attempts, the dead letter at 2,800 s (A6, A8, A9, A10)', async () => {
    const lives = await livesOf('event-grid')
    for (const life of lives) {
      expectOnTime(life)
      expect(life.requests).toHaveLength(6)
      expectDelays(delaysOf(life), spread(10, 30, 60, 300, 600, 1_800))
      expect(header(life.letter, 'barnabas-attempts')).toBe('6')
      expect(header(life.letter, 'barnabas-dead-letter-reason')).toBe('TimeToLiveExceeded')
      const lifeMs = time(life.letter, 'barnabas-dead-letter-time') - time(life.letter, 'barnabas-first-attempt-time')
      expect(lifeMs).toBeGreaterThanOrEqual(2_800 * second)
      expect(lifeMs).toBeLessThanOrEqual(2_840 * second + 2 * latenessMaxMs)
    }
    expectTiers(lives, ['10s', '30s|32s', '1m|64s', '5m', '10m', '30m'])
    // At random, up to 10 s: fifteen waits of which none got two fifths of that would be a wonder.
    const spreads = lives.flatMap((life) =>
      [300, 600, 1_800].map((each, index) => delaysOf(life)[index + 3]! - each * second),
    )
    expect(Math.max(...spreads)).toBeGreaterThan(4 * second)
  })

  test('event-grid waits at least 30 s after 503 and 2 minutes after 408, and never retries 400 (A4, A19)', async () => {
    for (const life of await livesOf('busy')) {
      expectOnTime(life)
      expectDelays(delaysOf(life), spread(30, 30))
    }
    for (const life of await livesOf('timed-out')) {
      expectOnTime(life)
      expectDelays(delaysOf(life), spread(120, 120))
    }
    for (const life of await livesOf('bad-request')) {
      expect(life.requests).toHaveLength(1)
      expect(header(life.letter, 'barnabas-dead-letter-reason')).toBe('UndeliverableDueToHttpBadRequest')
    }
  })

  test('event-grid-kubernetes: 1 minute, then every 10, for every status (C2, C3, C4)', async () => {
    const lives = await livesOf('kubernetes')
    for (const life of lives) {
      expectOnTime(life)
      expectDelays(delaysOf(life), exactly(minute, 10 * minute))
      expect(header(life.letter, 'barnabas-dead-letter-reason')).toBe('MaxDeliveryAttemptsExceeded')
    }
    expectTiers(lives, ['1m', '10m'])
  })

  test('backoff: three retries, each after 10 to 20 s (B1)', async () => {
    for (const life of await livesOf('backoff')) {
      expectOnTime(life)
      expect(life.requests).toHaveLength(4)
      const tenToTwenty = [10 * second, 20 * second] as const
      expectDelays(delaysOf(life), [tenToTwenty, tenToTwenty, tenToTwenty])
      expect(header(life.letter, 'barnabas-dead-letter-reason')).toBe('MaxDeliveryAttemptsExceeded')
    }
  })

  test('exponential-decay: 1, 2, 4 … 256, 512 s (B2)', async () => {
    const lives = await livesOf('decay')
    for (const life of lives) {
      expectOnTime(life)
      expectDelays(delaysOf(life), exactly(...[1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((each) => each * second)))
    }
    expectTiers(
      lives.map(({ parked, ...life }) => ({ ...life, parked: parked.slice(5) })),
      ['32s', '64s', '128s', '256s', '512s'],
    )
  })

  test('a delay without a tier of its own is composed of shorter ones, in one partition', async () => {
    for (const life of await livesOf('composed')) {
      expectOnTime(life)
      const [hopsOfWait] = life.parked
      expect(hopsOfWait!.slice(0, 2).map(tierOf)).toEqual(['10m', '10m'])
      expect(hopsOfWait!.map(hops)).toEqual(hopsOfWait!.map((_record, index) => index + 1))
      expect(new Set(hopsOfWait!.map((record) => header(record, 'barnabas-due-time'))).size).toBe(1)
      expect(new Set(hopsOfWait!.map(({ partition }) => partition)).size).toBe(1)
    }
  })

  test('no tier but the published ones was used, and events are spread over their partitions', () => {
    const parked = presets.records.records.filter((record) => !isLetter(record))
    expect(new Set(parked.map(({ partition }) => partition))).toEqual(new Set([0, 1]))
    for (const record of parked) expect(tierNames).toContain(tierOf(record))
  })
})

test('attempts begin when they are due', () => {
  expect(latenesses.length).toBeGreaterThan(100)
  const sorted = latenesses.toSorted((one, other) => one - other)
  expect(sorted[Math.floor(sorted.length * 0.95)]).toBeLessThanOrEqual(latenessUsualMs)
})
