/** A subscription that an operator pauses and starts again (design, "Status of a subscription"; row B8 for the record of it). */
import { beforeAll, expect, test } from 'vitest'
import {
  apply,
  barnabasCommand,
  createSourceTopic,
  lagOf,
  removeEverything,
  startBarnabas,
} from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import type { ControlTopics, SeenStatus } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { retryRecord } from '../support/retry-records.ts'

const prefix = randomName('pausing')
const cleanUp = cleanUpAfterAll()
const sessionTimeout = { BARNABAS_SESSION_TIMEOUT: '2s' }
/** What is answered to an event; 200 to those that are not named. */
const answers = new Map<string, number>()

let receiver: Receiver
let barnabas: Barnabas
let control: ControlTopics

beforeAll(async () => {
  receiver = await startReceiver(({ eventId }) => answers.get(eventId) ?? 200)
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  barnabas = await startBarnabas(prefix, sessionTimeout)
  cleanUp(() => barnabas.stop())
  control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
})

const say = (...args: readonly string[]) => barnabasCommand(prefix, args, { USER: 'ada' })

const isPaused = ({ status }: SeenStatus) => status === 'Paused'
const lastStatus = (id: string) => control.statusesOf(id).at(-1)
const attemptsOf = (eventId: string) => receiver.of(eventId).map(({ attempt }) => attempt)

test('nothing of a paused one is attempted, due retries are held, kill -9 keeps it paused, and start goes on where it was', async () => {
  const topic = await createSourceTopic(prefix, 'orders')
  // Those that are due have had three attempts.
  const retry = { schedule: ['1s', '1s', '1s', '1s', '1s'] }
  await apply(prefix, [{ id: 'orders', topics: [topic], sink: receiver.url, retry }])
  await produce(plainKafka(), topic, [binaryEvent('before')])
  await receiver.until(() => attemptsOf('before').length === 1)

  // What nobody can understand pauses nothing; nor does what was said of another life.
  const damaged = [
    '{',
    '{"command":"pause"}',
    '{"command":"pause","subscription":"orders","by":"eve","at":"now"}',
    '{"command":"pause","subscription":"orders","by":"eve","at":"2999-01-01T00:00:00.000Z","generation":1}',
  ]
  await produce(
    plainKafka(),
    `${prefix}.commands`,
    damaged.map((value) => ({ key: 'orders', value })),
  )

  expect(await say('pause', 'orders')).toEqual({ status: 0, text: 'orders Paused: paused by ada' })
  const paused = await control.untilStatus('orders', isPaused)
  expect((await control.stored('orders'))['generation']).toBe(paused.generation)
  expect((await say('get', 'orders')).text).toContain('Paused')
  expect(await say('pause', 'orders')).toEqual({
    status: 0,
    text: 'orders Paused, as it was before: paused by ada',
  })

  await produce(plainKafka(), topic, [binaryEvent('behind')])
  const of = { subscription: 'orders', generation: String(paused.generation), topic }
  const due = ['due-1', 'due-2', 'due-3'].map((id, offset) => retryRecord(id, { ...of, offset: 500 + offset }))
  await produce(plainKafka(), `${prefix}.retry.now`, due)
  const held = `${prefix}.held.orders`
  await expect.poll(() => lagOf(held, held).catch(() => 0), { timeout: 20_000 }).toBe(3)

  await barnabas.process.kill('SIGKILL')
  barnabas = await startBarnabas(prefix, sessionTimeout)
  // A change of it keeps it paused.
  await apply(prefix, [{ id: 'orders', topics: [topic], sink: receiver.url, retry, timeout: '7s' }])
  await expect
    .poll(() => lastStatus('orders'), { timeout: 10_000 })
    .toMatchObject({ status: 'Paused', reason: 'paused by ada', revision: 2 })
  // Another one is delivered meanwhile, from the same topic and by the same processes.
  await apply(prefix, [{ id: 'other', topics: [topic], sink: `${receiver.url}/other`, from: 'earliest' }])
  await receiver.until((requests) => requests.filter(({ path }) => path === '/other').length === 2)
  expect(receiver.requests.filter(({ path }) => path !== '/other').map(({ eventId }) => eventId)).toEqual(['before'])

  expect(await say('start', 'orders')).toEqual({ status: 0, text: 'orders Running, no longer paused' })
  await receiver.until(() => ['due-1', 'due-2', 'due-3'].every((id) => attemptsOf(id).length === 1))
  await receiver.until(() => receiver.of('behind').some(({ path }) => path !== '/other'))
  expect(['due-1', 'due-2', 'due-3'].map(attemptsOf)).toEqual([[4], [4], [4]])
  expect(receiver.of('before').filter(({ path }) => path !== '/other')).toHaveLength(1)
})

test('apply --paused creates one that is paused from its first moment; deleted and created anew it is not', async () => {
  const topic = await createSourceTopic(prefix, 'later')
  const later = { id: 'later', topics: [topic], sink: receiver.url, from: 'earliest' }
  await produce(plainKafka(), topic, [binaryEvent('first')])
  await apply(prefix, [later], { USER: 'ada' }, ['--paused'])
  await control.untilStatus('later', isPaused)
  expect(new Set(control.statusesOf('later').map(({ reason }) => reason))).toEqual(new Set(['paused by ada']))
  await expect(apply(prefix, [later], {}, ['--paused'])).rejects.toThrow(/later: --paused .* `barnabas pause later`/)
  expect(attemptsOf('first')).toEqual([])

  expect(await say('start', 'later')).toEqual({ status: 0, text: 'later Running, no longer paused' })
  await receiver.until(() => attemptsOf('first').length === 1)
  expect(await say('pause', 'later')).toMatchObject({ status: 0 })
  expect(await say('delete', 'later', '--yes')).toMatchObject({ status: 0 })
  await control.untilRemoved('later')
  await apply(prefix, [later])
  await expect.poll(() => lastStatus('later')?.status, { timeout: 10_000 }).toBe('Running')
  await receiver.until(() => attemptsOf('first').length === 2)
})

test('B5: a blocked one that is paused and started is blocked still', async () => {
  answers.set('stuck', 400)
  const topic = await createSourceTopic(prefix, 'blocked')
  const retry = { schedule: ['1s'], neverOn: [400] }
  await apply(prefix, [{ id: 'blocked', topics: [topic], sink: receiver.url, faultTolerance: 'prohibited', retry }])
  await produce(plainKafka(), topic, [binaryEvent('stuck')])
  await control.untilStatus('blocked', ({ status }) => status === 'Ready')
  const paused = await say('pause', 'blocked')
  expect(paused).toMatchObject({ status: 0 })
  expect(paused.text).toMatch(/^blocked Paused: paused by ada; once started: blocked at event stuck/)
  const started = await say('start', 'blocked')
  expect(started).toMatchObject({ status: 0 })
  expect(started.text).toMatch(/^blocked Ready, no longer paused: blocked at event stuck/)
  expect(attemptsOf('stuck')).toEqual([1])
  answers.delete('stuck')
  expect((await say('start', 'blocked')).text).toContain('is attempted again')
  await receiver.until(() => attemptsOf('stuck').length === 2)
})

test('a subscription that there is not is refused by name', async () => {
  const { status, text } = await say('pause', 'orderz')
  expect(status).toBe(1)
  expect(text).toContain('there is no subscription "orderz"; did you mean orders?')
})
