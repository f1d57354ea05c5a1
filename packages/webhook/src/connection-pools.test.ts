import { subscribe } from 'node:diagnostics_channel'
import type { ServerResponse } from 'node:http'
import { connect as connectTcp } from 'node:net'
import { buildConnector } from 'undici'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connectionPools } from './connection-pools.ts'
import { createWebhookSender } from './sender.ts'
import { attemptOptions, closed, guardOf, loopbackSender, receiver, testEvent, testShape } from './test-receiver.ts'

/** A receiver that answers nothing until it is told to. */
async function holdingReceiver() {
  const held: ServerResponse[] = []
  const server = await receiver((request, response) => {
    request.resume()
    held.push(response)
  })
  return {
    ...server,
    held,
    holds: (count: number) => vi.waitFor(() => expect(held).toHaveLength(count), { interval: 1, timeout: 5_000 }),
  }
}

test.each([200, 204, 503])('one connection is kept and used again after a %i', async (status) => {
  const { origin, connections } = await receiver((request, response) => {
    request.resume()
    response.writeHead(status).end(status === 204 ? undefined : 'thanks')
  })
  const sender = loopbackSender()
  for (let attemptNumber = 1; attemptNumber <= 20; attemptNumber++) {
    const result = await sender.attempt([testEvent()], {
      ...attemptOptions,
      url: `${origin}/${attemptNumber}`,
      attemptNumber,
      connectionsMax: 1,
    })
    expect(result.status).toBe(status)
  }
  expect(connections).toHaveLength(1)
})

test('100 attempts at once are 100 requests, and one stop signal serves them all', async () => {
  const warnings: Error[] = []
  const warn = (warning: Error): void => void warnings.push(warning)
  process.on('warning', warn)
  onTestFinished(() => void process.off('warning', warn))
  const { origin, held, holds } = await holdingReceiver()
  const sender = loopbackSender()
  const { signal } = new AbortController()
  const options = { ...attemptOptions, url: origin, connectionsMax: 100, signal }
  const attempts = Array.from({ length: 100 }, () => sender.attempt([testEvent()], options))
  await holds(100)
  for (const response of held) response.end()
  const outcomes = (await Promise.all(attempts)).map(({ outcome }) => outcome)
  expect(outcomes).toEqual(Array.from({ length: 100 }, () => 'Delivered'))
  expect(warnings).toEqual([])
})

test("no more connections than a subscription's own, and none are taken from another's", async () => {
  const { origin, connections, held, holds } = await holdingReceiver()
  const sender = loopbackSender()
  const attempt = (id: string) =>
    sender.attempt([testEvent()], { ...attemptOptions, url: origin, shape: { ...testShape, id }, connectionsMax: 2 })
  const mine = Array.from({ length: 6 }, () => attempt('slow'))
  await holds(2)
  const other = attempt('other')
  await holds(3)
  expect(connections).toHaveLength(3)

  for (let answered = 0; answered < 7; answered++) {
    await vi.waitFor(() => expect(held.length).toBeGreaterThan(answered), { interval: 1, timeout: 5_000 })
    expect(held.length - answered).toBeLessThanOrEqual(3)
    held[answered]?.end()
  }
  const outcomes = (await Promise.all([...mine, other])).map(({ outcome }) => outcome)
  expect(outcomes).toEqual(Array.from({ length: 7 }, () => 'Delivered'))
})

test('waiting for a connection does not spend the time of the attempt', async () => {
  const { origin, held, holds } = await holdingReceiver()
  const sender = loopbackSender()
  const options = { ...attemptOptions, url: origin, connectionsMax: 1, timeoutMs: 100 }
  const first = sender.attempt([testEvent()], options)
  const second = sender.attempt([testEvent()], options)
  expect(await first).toMatchObject({ outcome: 'TimedOut' })
  await holds(2)
  held[1]?.end()
  expect(await second).toMatchObject({ outcome: 'Delivered' })
  expect((await second).startedAt).toBeGreaterThanOrEqual((await first).endedAt)
})

test('a stop cuts off what is in flight and what waits: Canceled', async () => {
  const { origin, connections, holds } = await holdingReceiver()
  const sender = loopbackSender()
  const stop = new AbortController()
  const options = { ...attemptOptions, url: origin, connectionsMax: 1, signal: stop.signal }
  const attempts = [sender.attempt([testEvent()], options), sender.attempt([testEvent()], options)]
  await holds(1)
  stop.abort()
  attempts.push(sender.attempt([testEvent()], options))
  for (const result of await Promise.all(attempts)) {
    expect(result).toMatchObject({ outcome: 'Canceled', status: null, error: 'cut off by our own stop' })
  }
  await closed(connections[0])
  expect(connections).toHaveLength(1)
})

test('a stop during the look-up is Canceled too', async () => {
  const stop = new AbortController()
  const sender = loopbackSender({ resolveAll: () => stop.abort() })
  const result = await sender.attempt([testEvent()], {
    ...attemptOptions,
    url: 'http://receiver.invalid/',
    signal: stop.signal,
  })
  expect(result.outcome).toBe('Canceled')
})

test('A18: a stop after the head of the answer does not undo it', async () => {
  const { origin, held, holds } = await holdingReceiver()
  const stop = new AbortController()
  const headArrived = new Promise<unknown>((resolve) => subscribe('undici:request:headers', resolve))
  const attempt = loopbackSender({ answerBodyMs: 60_000 }).attempt([testEvent()], {
    ...attemptOptions,
    url: origin,
    signal: stop.signal,
  })
  await holds(1)
  held[0]?.writeHead(200, { 'content-length': '10' }).write('begun')
  await headArrived
  stop.abort()
  expect(await attempt).toMatchObject({ outcome: 'Delivered', status: 200 })
})

test('close cuts off attempts, closes connections, and refuses what comes later', async () => {
  const { origin, connections, holds } = await holdingReceiver()
  const sender = createWebhookSender({ addressGuard: guardOf('127.0.0.0/8') })
  const options = { ...attemptOptions, url: origin, connectionsMax: 1 }
  const attempts = [sender.attempt([testEvent()], options), sender.attempt([testEvent()], options)]
  await holds(1)
  await sender.close()
  attempts.push(sender.attempt([testEvent()], options))
  for (const result of await Promise.all(attempts)) expect(result.outcome).toBe('Canceled')
  await closed(connections[0])
  await sender.close()
})

test('a destination without connections and attempts leaves nothing behind', async () => {
  const { origin, connections } = await receiver((request, response) => {
    request.resume()
    response.end()
  })
  const pools = connectionPools(buildConnector({ allowH2: false }))
  onTestFinished(() => pools.close())
  const { signal } = new AbortController()

  const slot = await pools.acquire('a', origin, 1, signal)
  const answer = await slot?.pool.request({ method: 'POST', path: '/' })
  await answer?.body.dump()
  slot?.release()
  expect(pools.size).toBe(1)
  connections[0]?.destroy()
  await vi.waitFor(() => expect(pools.size).toBe(0), { interval: 1, timeout: 5_000 })

  // One that never had a connection goes at once.
  const unused = await pools.acquire('b', origin, 1, signal)
  expect(pools.size).toBe(1)
  unused?.release()
  unused?.release()
  expect(pools.size).toBe(0)
})

test('slots are given in turn, a raised limit at once, and one that left is passed over', async () => {
  const pools = connectionPools((options, callback) => {
    const socket = connectTcp(Number(options.port), options.hostname)
    socket.once('connect', () => callback(null, socket))
  })
  onTestFinished(() => pools.close())
  const origin = 'http://127.0.0.1:9'
  const order: string[] = []
  const leaving = new AbortController()
  const acquire = async (name: string, connectionsMax: number, signal = new AbortController().signal) => {
    const slot = await pools.acquire('a', origin, connectionsMax, signal)
    order.push(slot === null ? `${name} left` : name)
    return slot
  }
  const first = await acquire('first', 1)
  const second = acquire('second', 1)
  const third = acquire('third', 1, leaving.signal)
  const fourth = acquire('fourth', 1)
  leaving.abort()
  expect(await third).toBeNull()
  first?.release()
  const secondSlot = await second
  const fifth = acquire('fifth', 2)
  await fourth
  expect(order).toEqual(['first', 'third left', 'second', 'fourth'])
  secondSlot?.release()
  await fifth
  expect(order.at(-1)).toBe('fifth')
})

test('what is not connected at its deadline is never sent, however busy the process was', async () => {
  let requests = 0
  const { origin } = await receiver((request, response) => {
    requests += 1
    request.resume()
    response.end()
  })
  const sender = loopbackSender()
  const attempt = sender.attempt([testEvent()], { ...attemptOptions, url: origin, timeoutMs: 20 })
  // Nothing of the connection can be heard before the deadline has passed.
  const until = performance.now() + 100
  while (performance.now() < until);
  expect(await attempt).toMatchObject({ outcome: 'TimedOut' })
  expect(await sender.attempt([testEvent()], { ...attemptOptions, url: origin })).toMatchObject({
    outcome: 'Delivered',
  })
  expect(requests).toBe(1)
})
