/** What ends without being told to is written down and started again: a supervisor would hide it. */
import { expect, onTestFinished, test } from 'vitest'
import { startFleet } from './fleet.ts'

/** Without the name of a Kafka a service ends as it starts. */
const refused = { KAFKA_BROKERS: '' }

test('a service that ends by itself is an ending with its status and its last line, and is started again', async () => {
  const twice = Promise.withResolvers<void>()
  const fleet = startFleet(refused, () => {
    if (fleet.endings.length === 2) twice.resolve()
  })
  onTestFinished(() => fleet.end())
  const added = fleet.add('dispatcher')
  await twice.promise
  await fleet.end()
  await added

  const [first, second] = fleet.endings
  expect(first).toMatchObject({ service: 'dispatcher', status: 1, lastLine: expect.stringContaining('KAFKA_BROKERS') })
  expect(second!.pid).not.toBe(first!.pid)
  expect(fleet.logs.map(({ pid }) => pid)).toEqual([first!.pid, second!.pid])
})

test('one that is killed is no ending', async () => {
  const fleet = startFleet({ KAFKA_BROKERS: '127.0.0.1:1' }, () => undefined)
  onTestFinished(() => fleet.end())
  const added = fleet.add('retrier')
  const [member] = fleet.membersOf('retrier')
  await member!.process.line(/./)
  await fleet.leave(member!, 'SIGKILL')
  await added
  expect(fleet.endings).toEqual([])
  expect(fleet.membersOf('retrier')).toEqual([])
})
