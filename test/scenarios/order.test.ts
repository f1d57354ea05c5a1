/** Events in their order, also through retries: `order: partition` and `order: key`. */
import { beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, environment, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf, followTopics, header } from '../support/followed-topics.ts'
import type { FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import type { ReceivedRequest, Receiver } from '../support/receiver.ts'

const prefix = randomName('order')
const cleanUp = cleanUpAfterAll()
const sessionTimeout = { BARNABAS_SESSION_TIMEOUT: '2s' }
/** How often an event is refused before it is taken. */
const refusals = new Map<string, number>()

let receiver: Receiver
let barnabas: Barnabas
let letters: FollowedTopics

beforeAll(async () => {
  receiver = await startReceiver(({ eventId, attempt }) => (attempt > (refusals.get(eventId) ?? 0) ? 200 : 503))
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  barnabas = await startBarnabas(prefix, sessionTimeout)
  cleanUp(() => barnabas.stop())
  letters = await followTopics(plainKafka(), [`${prefix}.dead-letter`])
  cleanUp(() => letters.stop())
})

const isTaken = ({ eventId, attempt }: ReceivedRequest) => attempt > (refusals.get(eventId) ?? 0)

/** Whether nothing of an event came before the one before it was taken. A crash may bring one again, none too early. */
function isInOrder(requests: readonly ReceivedRequest[], ids: readonly string[]): boolean {
  return ids.every((id, index) => {
    const before = ids[index - 1]
    if (before === undefined) return true
    const takenAt = requests.findIndex((request) => request.eventId === before && isTaken(request))
    const cameAt = requests.findIndex(({ eventId }) => eventId === id)
    return takenAt >= 0 && takenAt < cameAt
  })
}

const untilTaken = (ids: readonly string[]) =>
  receiver.until((requests) => {
    const taken = new Set(requests.filter(isTaken).map(({ eventId }) => eventId))
    return ids.every((id) => taken.has(id))
  })

test('order: partition: one at a time, and none before the one before it was taken, also while processes come and go', async () => {
  const topic = await createSourceTopic(prefix, 'partition', 2)
  const retry = { schedule: ['100ms', '1500ms', '100ms', '1500ms', '100ms'] }
  await apply(prefix, [{ id: 'by-partition', topics: [topic], sink: receiver.url, order: 'partition', retry }])
  const ids = [0, 1].map((partition) => Array.from({ length: 30 }, (_, index) => `p${partition}-${index}`))
  const failing = ['p0-3', 'p0-4', 'p1-0', 'p1-20']
  for (const id of failing) refusals.set(id, 4)
  const events = ids.flatMap((each, partition) => each.map((id) => binaryEvent(id, { partition })))
  await produce(plainKafka(), topic, events)
  await receiver.until(() => receiver.of('p0-3').length === 2)
  const second = runProcess('services/dispatcher/main.ts', { ...environment(prefix), ...sessionTimeout })
  cleanUp(() => second.kill('SIGKILL'))
  await receiver.until(() => receiver.of('p0-4').length === 2)
  await second.line(/dispatcher is ready/)
  await second.kill('SIGTERM')
  await untilTaken(ids.flat())
  for (const each of ids) expect(isInOrder(receiver.requests, each)).toBe(true)
  // No count begins anew or jumps; on a machine that stands still for the session time-out, one may come twice.
  for (const id of failing) {
    const attempts = receiver.of(id).map(({ attempt }) => attempt)
    expect(attempts.filter((attempt, index) => attempt !== attempts[index - 1])).toEqual([1, 2, 3, 4, 5])
  }
})

test('order: key: other keys go on while one waits, through kill -9 too; what is exhausted lets its key go on', async () => {
  const topic = await createSourceTopic(prefix, 'key')
  const retry = { schedule: ['2s', '2500ms'] }
  await apply(prefix, [{ id: 'by-key', topics: [topic], sink: receiver.url, order: 'key', retry }])
  const keys = ['a', 'b', 'c', 'd']
  const idsOf = (key: string) => Array.from({ length: 20 }, (_, index) => `${key}-${index}`)
  refusals.set('a-1', 2)
  refusals.set('b-3', Infinity)
  const all = Array.from({ length: 20 }, (_, index) =>
    keys.map((key) => binaryEvent(`${key}-${index}`, { key })),
  ).flat()
  await produce(plainKafka(), topic, all)
  await untilTaken([...idsOf('c'), ...idsOf('d')])
  // Two keys wait for their first retries, and nothing behind them was attempted.
  expect([receiver.of('a-1').length, receiver.of('a-2').length, receiver.of('b-4').length]).toEqual([1, 0, 0])

  await receiver.until(() => receiver.of('a-1').length === 2 && receiver.of('b-3').length === 2)
  await barnabas.process.kill('SIGKILL')
  barnabas = await startBarnabas(prefix, sessionTimeout)
  await untilTaken([...idsOf('a'), ...idsOf('b').filter((id) => id !== 'b-3')])
  for (const key of ['a', 'c', 'd']) expect(isInOrder(receiver.requests, idsOf(key))).toBe(true)
  const [letter] = await letters.until((records) => records.length > 0)
  expect([eventIdOf(letter!), header(letter!, 'barnabas-attempts')]).toEqual(['b-3', '3'])
  const lastOfB = receiver.requests.findLastIndex(({ eventId }) => eventId === 'b-3')
  expect(receiver.requests.findIndex(({ eventId }) => eventId === 'b-4')).toBeGreaterThan(lastOfB)
  expect(isInOrder(receiver.requests, idsOf('b').slice(4))).toBe(true)
})
