/**
 * `rate`, and what a receiver allows in the handshake of CloudEvents (issue 5, point 8; HTTP 1.1 Web Hooks 1.0.2, 4.2.2):
 * real receivers, and all of Barnabas in one process and in two. A slow machine can only make deliveries slower, so what
 * is looked at is that they took long enough.
 */
import { beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, metric, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { ReceivedRequest, Receiver } from '../support/receiver.ts'

const prefix = randomName('rate')
const cleanUp = cleanUpAfterAll()
const env = { BARNABAS_ORIGIN: 'shop.example' }
let barnabas: Barnabas
let receiver: Receiver

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  receiver = await startReceiver(({ method, path, attempt }) => {
    const headers = { 'webhook-allowed-origin': 'shop.example', 'webhook-allowed-rate': '1200' }
    if (method === 'OPTIONS') return { status: 200, headers }
    return path === '/fails-once' && attempt === 1 ? 503 : 200
  })
  cleanUp(() => receiver.close())
  barnabas = await startBarnabas(prefix, env)
  cleanUp(() => barnabas.stop())
})

const eventsOf = (path: string) => receiver.requests.filter((each) => each.path === path && each.method === 'POST')
const arrived = (path: string, count: number) => receiver.until(() => eventsOf(path).length >= count)
const named = (id: string, count: number) => Array.from({ length: count }, (_, index) => binaryEvent(`${id} ${index}`))

/** How much longer it took than it must have at the very least; negative when there were more requests than allowed. */
function spareMs(requests: readonly ReceivedRequest[], perSecond: number, atOnce: number): number {
  const times = requests.map(({ time }) => time)
  const tookMs = Math.max(...times) - Math.min(...times)
  return tookMs - ((requests.length - atOnce) / perSecond) * 1_000
}

/** The head of the first request may have been seen late. */
const seenLateMs = 500

test('first attempts and retries together keep to the rate, and nothing is lost', async () => {
  const topic = await createSourceTopic(prefix, 'fails')
  const retry = { schedule: ['0s'] }
  const sink = `${receiver.url}/fails-once`
  await apply(prefix, [{ id: 'fails', topics: [topic], sink, rate: '20/s', retry, from: 'earliest' }])
  await produce(plainKafka(), topic, named('fails', 25))
  await arrived('/fails-once', 50)
  const requests = eventsOf('/fails-once')
  expect(spareMs(requests, 20, 1 + 3)).toBeGreaterThan(-seenLateMs)
  const attempts = requests.map(({ eventId, attempt }) => `${eventId}: ${attempt}`).toSorted()
  const wanted = named('fails', 25).flatMap((_, index) => [`fails ${index}: 1`, `fails ${index}: 2`])
  expect(attempts).toEqual(wanted.toSorted())
  await expect.poll(() => metric(barnabas.url, 'barnabas_events_delivered_total', { subscription: 'fails' })).toBe(25)
})

test('what the receiver allows in the handshake is obeyed, and a batch is one request', async () => {
  const topic = await createSourceTopic(prefix, 'allows')
  const asks = { handshake: 'cloudevents', from: 'earliest', topics: [topic] }
  const batch = { maxEvents: 5 }
  await produce(plainKafka(), topic, named('allows', 40))
  await apply(prefix, [
    { id: 'allows', sink: `${receiver.url}/allows`, ...asks },
    { id: 'batches', sink: `${receiver.url}/batches`, mode: 'structured', batch, rate: '300/min', ...asks },
  ])
  const asked = receiver.requests.filter(({ method }) => method === 'OPTIONS')
  const rates = asked.map(({ path, headers }) => [path, headers['webhook-request-rate']])
  expect(Object.fromEntries(rates)).toEqual({
    '/allows': undefined,
    '/batches': '300',
  })
  await arrived('/allows', 40)
  expect(spareMs(eventsOf('/allows'), 20, 1 + 3)).toBeGreaterThan(-seenLateMs)
  await receiver.until(() => eventsOf('/batches').flatMap(({ eventIds }) => eventIds).length >= 40)
  const batches = eventsOf('/batches')
  expect(spareMs(batches, 5, 1 + 2)).toBeGreaterThan(-seenLateMs)
  expect(batches.length).toBeLessThan(40)
})

test('two processes share it, and both deliver', async () => {
  const other = await startBarnabas(prefix, env)
  cleanUp(() => other.stop())
  const topic = await createSourceTopic(prefix, 'shared', 2)
  const sink = `${receiver.url}/shared`
  await apply(prefix, [{ id: 'shared', topics: [topic], sink, rate: '20/s', from: 'earliest' }])
  const inBoth = (events: ReturnType<typeof named>) =>
    produce(
      plainKafka(),
      topic,
      [0, 1].flatMap((partition) => events.map((event) => ({ ...event, partition }))),
    )
  const delivered = ({ url }: Barnabas) => metric(url, 'barnabas_events_delivered_total', { subscription: 'shared' })
  const bothDeliver = async () => {
    await inBoth(named('early', 1))
    return Math.min(await delivered(barnabas), await delivered(other))
  }
  await expect.poll(bothDeliver, { timeout: 30_000, interval: 500 }).toBeGreaterThan(0)
  await inBoth(named('counted', 20))
  const counted = () => eventsOf('/shared').filter(({ eventId }) => eventId.startsWith('counted'))
  await receiver.until(() => counted().length >= 40)
  expect(spareMs(counted(), 20, 2 * (1 + 2))).toBeGreaterThan(-seenLateMs)
})
