/**
 * A receiver that fails is left to rest (rows A8, A12, A17): new events wait where they are, due retries are skipped, and
 * afterwards it is tried with one attempt, then two, then four. Dispatchers and the retrier are processes of their own.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, environment, lagOf, metric, removeEverything } from '../support/barnabas.ts'
import type { Written } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import type { ControlTopics, SeenStatus } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, withAdmin } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Answer, Receiver } from '../support/receiver.ts'

const cleanUp = cleanUpAfterAll()
const prefix = randomName('probation')
const env = {
  ...environment(prefix),
  BARNABAS_SESSION_TIMEOUT: '2s',
  BARNABAS_DRAIN_TIMEOUT: '1s',
  BARNABAS_HTTP_PORT: '0',
  BARNABAS_LOG_LEVEL: 'debug',
}
const running: RunningProcess[] = []
let control: ControlTopics
let records: FollowedTopics

interface Probation {
  readonly cause: string
  readonly since: string
  readonly until: string
}
const probationOf = (status: SeenStatus) => (status as { readonly probation?: Probation | null }).probation ?? null
const parkedOf = (status: SeenStatus) => (status as { readonly parked?: number }).parked

async function run(name: 'dispatcher' | 'retrier'): Promise<RunningProcess> {
  const started = runProcess(`services/${name}/main.ts`, env)
  running.push(started)
  await started.line(new RegExp(`${name} is ready`))
  return started
}

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  await Promise.all([run('dispatcher'), run('retrier')])
  control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
  const tiers = ['1s', '2s', '4s', '8s', '10s', '1m', '5m'].map((tier) => `${prefix}.retry.${tier}`)
  records = await followTopics(plainKafka(), [...tiers, `${prefix}.dead-letter`])
  cleanUp(() => records.stop())
})

afterAll(async () => {
  await Promise.all(running.map((each) => each.kill('SIGKILL')))
})

/** A subscription, its receiver that answers as it is told, and its topic. */
async function subscribe(id: string, written: Record<string, unknown>, partitions = 1) {
  let answer: (event: string) => Answer = () => 500
  const receiver: Receiver = await startReceiver(({ eventId }) => answer(eventId))
  cleanUp(() => receiver.close())
  const topic = await createSourceTopic(prefix, id, partitions)
  const subscription: Written = { id, topics: [topic], sink: receiver.url, ...written }
  await apply(prefix, [subscription])
  return {
    receiver,
    topic,
    subscription,
    answers: (next: Answer | ((event: string) => Answer)) => {
      answer = typeof next === 'function' ? next : () => next
    },
    send: (from: number, count: number, to: { readonly partition?: number } = {}) =>
      produce(
        plainKafka(),
        topic,
        Array.from({ length: count }, (_, index) => binaryEvent(`${id}-${from + index}`, to)),
      ),
    lag: () => lagOf(`${prefix}.subscription.${id}`, topic),
  }
}

const of = (id: string) => (record: FollowedRecord) => header(record, 'barnabas-subscription') === id

test(
  'A12: after ten failures in a row new events wait where they are, due retries are skipped once, and one trial at its end doubles',
  { timeout: 120_000 },
  async () => {
    const { receiver, send, lag, answers } = await subscribe('resting', {
      retry: { schedule: ['1s', 'repeat'], maxAttempts: 100 },
      probation: { steps: ['6s', '1h'] },
      concurrency: 16,
    })
    await send(0, 10)
    await receiver.until((requests) => requests.length === 10)
    const begun = await control.untilStatus('resting', (status) => probationOf(status) !== null)
    const { cause, since, until } = probationOf(begun)!
    expect(cause).toBe('GenericError')
    expect(Date.parse(until) - Date.parse(since)).toBe(6_000)

    await send(10, 20)
    // Every one of the ten falls due after a second, and is skipped.
    const isSkipped = (record: FollowedRecord) => of('resting')(record) && header(record, 'barnabas-skips') !== null
    const all = await records.until((seen) => seen.filter(isSkipped).length >= 10)
    expect(receiver.requests).toHaveLength(10)
    expect(await lag()).toBe(20)
    for (const skipped of all.filter(isSkipped).slice(0, 10)) {
      const told = ['attempts', 'skips', 'last-outcome', 'last-status'].map((name) =>
        header(skipped, `barnabas-${name}`),
      )
      expect(told).toEqual(['1', '1', 'Probation', '500'])
      expect(Date.parse(header(skipped, 'barnabas-last-attempt-time')!)).toBeLessThanOrEqual(Date.parse(since))
      const dueAt = Date.parse(header(skipped, 'barnabas-due-time')!)
      expect(dueAt).toBeGreaterThanOrEqual(Date.parse(until))
      expect(dueAt).toBeLessThanOrEqual(Date.parse(until) + 1_000)
    }
    await control.untilStatus('resting', (status) => parkedOf(status) === 10)

    // At the end the dispatcher and the retrier try once each: what they try hangs, and nothing else comes.
    answers('hang')
    await receiver.until((requests) => requests.length >= 11)
    expect(receiver.requests[10]!.time).toBeGreaterThanOrEqual(Date.parse(until))
    await pause(1_500)
    expect(receiver.requests.length).toBeLessThanOrEqual(12)
    expect(receiver.requests.slice(10).filter(({ attempt }) => attempt === 1)).toHaveLength(1)

    // They fail: longer, for both.
    receiver.cutOff()
    const longer = await control.untilStatus('resting', (status) => (probationOf(status)?.until ?? '') > until)
    expect(probationOf(longer)).toMatchObject({ cause: 'SocketError', since })
    expect(Date.parse(probationOf(longer)!.until) - Date.now()).toBeGreaterThan(3_500_000)
  },
)

test('A17: a retry that falls due during a probation caused by a client error becomes a dead letter without an attempt', async () => {
  // The first event is retried, and is due when the others have been refused for good.
  const { receiver, send, answers } = await subscribe('refused', {
    retry: { schedule: ['1s'] },
    concurrency: 1,
    probation: {},
  })
  answers((event) => (event === 'refused-0' ? 500 : 401))
  await send(0, 12)
  await control.untilStatus('refused', (status) => probationOf(status) !== null)
  const isGivenUp = (record: FollowedRecord) =>
    of('refused')(record) &&
    header(record, 'barnabas-dead-letter-reason') === 'UndeliverableDueToProbationCausedByClientError'
  const all = await records.until((seen) => seen.some(isGivenUp))
  const letter = all.find(isGivenUp)!
  const told = ['attempts', 'skips', 'last-outcome', 'last-status'].map((name) => header(letter, `barnabas-${name}`))
  expect(told).toEqual(['1', '1', 'Probation', '500'])
  expect(receiver.of('refused-0')).toHaveLength(1)
})

test('A12: what was read before it begins is not kept in memory, and is attempted once afterwards', async () => {
  const { receiver, send, lag, answers } = await subscribe('given-back', {
    retry: { schedule: ['1h'] },
    probation: { steps: ['2s'] },
    concurrency: 2,
  })
  // With the tenth failure one more may be under way.
  let failed = 0
  answers(() => ((failed += 1) <= 11 ? 500 : 200))
  await send(0, 200)
  const given = JSON.parse(await running[0]!.line(/"subscription":"given-back".*given back until/)) as {
    events: number
  }
  expect(given.events).toBeGreaterThan(0)
  await receiver.until((requests) => requests.length >= 200)
  await expect.poll(lag, { timeout: 10_000, interval: 100 }).toBe(0)
  expect(new Set(receiver.requests.map(({ eventId }) => eventId)).size).toBe(200)
  expect(receiver.requests).toHaveLength(200)
})

test(
  'A12, A21: of two dispatchers both rest, whoever saw it fail, and at the end each makes one trial',
  { timeout: 60_000 },
  async () => {
    const other = await run('dispatcher')
    const { receiver, send, lag, answers } = await subscribe(
      'shared',
      { retry: { schedule: ['10m'] }, probation: { steps: ['6s', '1h'] } },
      2,
    )
    const group = `${prefix}.subscription.shared`
    const shared = async () => {
      const { groups } = await withAdmin((admin) => admin.describeGroups([group]))
      return groups.map(({ state, members }) => [state, members.length])
    }
    await expect.poll(shared, { timeout: 20_000, interval: 100 }).toEqual([['Stable', 2]])
    // Of two members each has one of the partitions.
    await control.untilStatus('shared', ({ status }) => status === 'Running')

    await send(0, 10, { partition: 0 })
    const begun = await control.untilStatus('shared', (status) => probationOf(status) !== null)
    const until = Date.parse(probationOf(begun)!.until)
    const inBoth = () =>
      Promise.all(
        [running[0]!, other].map(async (each) => {
          const { url } = JSON.parse(await each.line(/health and metrics at/)) as { readonly url: string }
          return metric(url, 'barnabas_probation_active', { subscription: 'shared' })
        }),
      )
    await expect.poll(inBoth, { timeout: 5_000, interval: 50 }).toEqual([1, 1])

    answers('hang')
    await send(10, 3, { partition: 0 })
    await send(20, 3, { partition: 1 })
    await expect.poll(lag, { timeout: 5_000, interval: 50 }).toBe(6)
    await receiver.until((requests) => requests.length >= 12)
    await pause(1_000)
    const trials = receiver.requests.slice(10)
    expect(trials.map(({ eventId }) => eventId).toSorted()).toEqual(['shared-10', 'shared-20'])
    expect(Math.min(...trials.map(({ time }) => time))).toBeGreaterThanOrEqual(until)
    receiver.cutOff()
    await other.kill('SIGTERM')
  },
)

test('`barnabas start` ends it by hand, whichever process began it and is gone since; said twice it changes nothing', async () => {
  const { receiver, send, answers } = await subscribe('ended', {
    retry: { schedule: ['10m'] },
    probation: { steps: ['1h'] },
  })
  await send(0, 10)
  await control.untilStatus('ended', (status) => probationOf(status) !== null)
  answers(200)
  await send(10, 5)
  await running[0]!.kill('SIGKILL')
  const successor = await run('dispatcher')
  // What the other one has found out, its successor knows.
  const { url } = JSON.parse(await successor.line(/health and metrics at/)) as { readonly url: string }
  expect(await metric(url, 'barnabas_probation_active', { subscription: 'ended' })).toBe(1)
  expect(receiver.requests).toHaveLength(10)

  const say = async () => {
    const command = runProcess('services/cli/bin/barnabas', env, ['start', 'ended'])
    return { status: await command.exited, lines: command.lines }
  }
  expect(await say()).toEqual({
    status: 0,
    lines: ['ended Running: its probation because of GenericError is over'],
  })
  // What the killed one had attempted and not committed comes once more.
  await receiver.until(() => [10, 11, 12, 13, 14].every((each) => receiver.of(`ended-${each}`).length === 1))
  expect(await say()).toEqual({ status: 0, lines: ['ended Running, as it was before'] })
})
