import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ConsumerStartError } from './consumer-failure.ts'
import { createLastingConsumer } from './lasting-consumer.ts'
import type { LoopConsumer } from './lasting-consumer.ts'
import type { Assignment, ConsumerFailure, ConsumerOptions } from './port.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const orders = (partition: number) => ({ topic: 'orders', partition })

function joined(memberId: string, gained: readonly number[]): Assignment {
  return { gained: gained.map(orders), kept: [], lost: [], isLeader: true, memberId, generationId: 1 }
}

/** A consumer over clients that fetch and send heartbeats as long as `setting` says so; `starts` are the answers of each start. */
function lasting({ starts = [], broker = true }: { starts?: (Error | null)[]; broker?: boolean | Promise<void> } = {}) {
  const setting = { fetches: true, heartbeats: true, broker }
  const clients: { readonly told: ConsumerOptions; stopped: boolean }[] = []
  const steps: string[] = []
  const options: ConsumerOptions = {
    groupId: 'g',
    topics: ['orders'],
    onRecords: () => void steps.push('records'),
    onAssigned: ({ memberId, gained, lost }) =>
      void steps.push(
        `${memberId}: +${gained.map((one) => one.partition).join()} -${lost.map((one) => one.partition).join()}`,
      ),
    onUnsettled: () => void steps.push('unsettled'),
    onFailed: ({ code }) => void steps.push(`failed: ${code}`),
  }
  const consumer = createLastingConsumer(options, {
    sessionTimeoutMs: 10_000,
    logger: { debug() {}, info() {}, error() {}, warn: (_, message) => void steps.push(message.split(':')[0]!) },
    askBroker: () => (setting.broker ? Promise.resolve(setting.broker) : Promise.reject(new Error('no broker'))),
    create(told) {
      const client = { told, stopped: false }
      const index = clients.push(client) - 1
      const silentSince = Date.now()
      const own: Partial<LoopConsumer> = {
        start: () => (starts[index] ? Promise.reject(starts[index]) : Promise.resolve()),
        stop: () => Promise.resolve(void (client.stopped = true)),
        get silentSince() {
          return setting.fetches ? Date.now() : silentSince
        },
        get lastHeartbeatAt() {
          return setting.heartbeats ? Date.now() : index === 0 ? silentSince : 0
        },
      }
      return own as LoopConsumer
    },
  })
  return { consumer, clients, steps, setting }
}

test('while something is fetched, nothing is replaced', async () => {
  const { consumer, clients } = lasting()
  await consumer.start()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(clients).toHaveLength(1)
  await consumer.stop()
})

test('fetching without a heartbeat, a member of no group: a new member takes over, and has time to join', async () => {
  const { consumer, clients, setting } = lasting()
  await consumer.start()
  clients[0]?.told.onAssigned(joined('one', [0, 1]))
  setting.heartbeats = false
  await vi.advanceTimersByTimeAsync(14_000)
  expect(clients).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(clients.map(({ stopped }) => stopped)).toEqual([true, false])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(clients).toHaveLength(2)
  await consumer.stop()
})

test('silent though a broker answers: a new member takes over, and what the former says is heard no more', async () => {
  const { consumer, clients, steps, setting } = lasting()
  await consumer.start()
  clients[0]?.told.onAssigned(joined('one', [0, 1]))
  setting.fetches = false
  await vi.advanceTimersByTimeAsync(14_000)
  expect(clients).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(clients.map(({ stopped }) => stopped)).toEqual([true, false])
  setting.fetches = true
  clients[0]?.told.onAssigned(joined('one', [0]))
  clients[0]?.told.onFailed({ code: 'OTHER', message: '' })
  clients[1]?.told.onAssigned(joined('two', [1]))
  clients[1]?.told.onAssigned({ ...joined('two', []), kept: [orders(1)] })
  expect(steps).toEqual([
    'one: +0,1 -',
    'consumer fetches nothing or has no heartbeat acknowledged though a broker answers',
    'unsettled',
    'two: +1 -0,1',
    'two: + -',
  ])
  await consumer.stop()
  expect(clients[1]?.stopped).toBe(true)
})

test('what was asked while no broker answered is one answer when one comes back', async () => {
  const comesBack = Promise.withResolvers<void>()
  const { consumer, clients, setting } = lasting({ broker: comesBack.promise })
  await consumer.start()
  setting.fetches = false
  await vi.advanceTimersByTimeAsync(40_000)
  comesBack.resolve()
  await vi.advanceTimersByTimeAsync(4_000)
  expect(clients).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(4_000)
  expect(clients).toHaveLength(2)
  await consumer.stop()
})

test('no broker answers: it waits', async () => {
  const { consumer, clients, setting } = lasting({ broker: false })
  await consumer.start()
  setting.fetches = false
  await vi.advanceTimersByTimeAsync(120_000)
  expect(clients).toHaveLength(1)
  setting.broker = true
  await vi.advanceTimersByTimeAsync(10_000)
  expect(clients).toHaveLength(2)
  await consumer.stop()
})

test.each([
  { code: 'UNKNOWN_TOPIC', expected: ['failed: UNKNOWN_TOPIC'], clients: 2 },
  { code: 'OTHER', expected: [], clients: 3 },
] as const)(
  'a new member that cannot start ($code) fails only for what cannot pass',
  async ({ code, expected, clients }) => {
    const failure: ConsumerFailure = { code, message: 'x' }
    const run = lasting({ starts: [null, new ConsumerStartError(failure)] })
    await run.consumer.start()
    run.setting.fetches = false
    await vi.advanceTimersByTimeAsync(46_000)
    expect(run.steps.filter((step) => step.startsWith('failed'))).toEqual(expected)
    expect(run.clients).toHaveLength(clients)
    await run.consumer.stop()
  },
)

test('what failed stays ended', async () => {
  const { consumer, clients, steps, setting } = lasting()
  await consumer.start()
  clients[0]?.told.onFailed({ code: 'UNKNOWN_TOPIC', message: '' })
  setting.fetches = false
  await vi.advanceTimersByTimeAsync(60_000)
  expect([clients.length, steps]).toEqual([1, ['failed: UNKNOWN_TOPIC']])
  await consumer.stop()
})
