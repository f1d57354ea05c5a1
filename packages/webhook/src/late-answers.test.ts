/** Answers that come after their deadline: row A7. */
import type { ServerResponse } from 'node:http'
import { expect, test } from 'vitest'
import { attemptOptions, closed, loopbackSender, receiver, testEvent } from './test-receiver.ts'

/** A receiver that answers when it is told to. */
async function slowReceiver() {
  const waiting: ServerResponse[] = []
  const { origin, connections } = await receiver((request, response) => {
    request.resume()
    waiting.push(response)
  })
  /** The request may take longer to arrive than its attempt waits. */
  const arrived = (count = 1) => expect.poll(() => waiting.length).toBe(count)
  return { origin, connections, waiting, arrived }
}

const options = { ...attemptOptions, timeoutMs: 200, lateMs: 5_000 }

test.each([
  [200, 'Delivered'],
  [204, 'Delivered'],
  [503, 'Busy'],
  [400, 'BadRequest'],
] as const)('A7: a %i after the deadline is told later, and the connection ends', async (status, outcome) => {
  const { origin, connections, waiting, arrived } = await slowReceiver()
  const result = await loopbackSender().attempt([testEvent()], { ...options, url: origin })
  expect(result).toMatchObject({ outcome: 'TimedOut', status: null, endedAt: result.startedAt + 200 })
  await arrived()
  waiting[0]!.writeHead(status).end('thanks')
  const late = await result.lateAnswer
  expect(late).toMatchObject({ outcome, status, startedAt: result.startedAt })
  expect(late!.endedAt).toBeGreaterThanOrEqual(result.endedAt)
  await closed(connections[0])
})

test('A7: the slot is free at the deadline, and another attempt has a connection of its own', async () => {
  const { origin, connections, waiting, arrived } = await slowReceiver()
  const sender = loopbackSender()
  const one = await sender.attempt([testEvent()], { ...options, url: origin, connectionsMax: 1 })
  const next = sender.attempt([testEvent()], { ...options, timeoutMs: 5_000, url: origin, connectionsMax: 1 })
  await arrived(2)
  expect(connections).toHaveLength(2)
  waiting[1]!.end()
  expect(await next).toMatchObject({ outcome: 'Delivered' })
  waiting[0]!.end()
  expect(await one.lateAnswer).toMatchObject({ outcome: 'Delivered' })
})

test.each([
  ['no answer within that time', 400, () => {}],
  ['a connection that is closed', 5_000, (response: ServerResponse) => void response.socket?.destroy()],
  ['an answer that is no HTTP', 5_000, (response: ServerResponse) => void response.socket?.end('what?\r\n\r\n')],
])('A7: %s says nothing', async (_what, lateMs, answer) => {
  const { origin, connections, waiting, arrived } = await slowReceiver()
  const result = await loopbackSender().attempt([testEvent()], { ...options, lateMs, url: origin })
  await arrived()
  answer(waiting[0]!)
  expect(await result.lateAnswer).toBeNull()
  await closed(connections[0])
})

test('A7: our own stop and the end of the sender end it', async () => {
  const { origin } = await slowReceiver()
  const sender = loopbackSender()
  const stop = new AbortController()
  const one = await sender.attempt([testEvent()], { ...options, url: origin, signal: stop.signal })
  const other = await sender.attempt([testEvent()], { ...options, url: origin })
  stop.abort()
  expect(await one.lateAnswer).toBeNull()
  await sender.close()
  expect(await other.lateAnswer).toBeNull()
})

test('A7: no more than 64 are kept', async () => {
  const { origin, waiting, arrived } = await slowReceiver()
  const sender = loopbackSender()
  const attempts = Array.from({ length: 66 }, () =>
    sender.attempt([testEvent()], { ...options, timeoutMs: 500, url: origin, connectionsMax: 100 }),
  )
  const results = await Promise.all(attempts)
  await arrived(66)
  for (const response of waiting) response.end()
  const late = await Promise.all(results.map(async ({ lateAnswer }) => await lateAnswer))
  expect(late.filter((answer) => answer === null)).toHaveLength(2)
})

test.each([0, 200])('with %i ms for it an attempt ends with its deadline', async (lateMs) => {
  const { origin, connections } = await slowReceiver()
  const result = await loopbackSender().attempt([testEvent()], { ...options, lateMs, url: origin })
  expect(result.lateAnswer).toBeUndefined()
  await closed(connections[0])
})
