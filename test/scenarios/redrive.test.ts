/** Dead letters sent again, exported, and read by one's own consumer, with Barnabas running: row B8. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import { deadLettersCommand, redriveResult } from '../support/dead-letters.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf, followTopics, header } from '../support/followed-topics.ts'
import type { FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, readTopic, testBrokers } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { retryRecord } from '../support/retry-records.ts'

const prefix = randomName('redrive')
const deadLetterTopic = `${prefix}.dead-letter`
const cleanUp = cleanUpAfterAll()
let isMended = false
let receiver: Receiver
let letters: FollowedTopics
let topic: string
let generation: string

beforeAll(async () => {
  receiver = await startReceiver(() => (isMended ? 200 : 400))
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  const barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  topic = await createSourceTopic(prefix, 'orders')
  letters = await followTopics(plainKafka(), [deadLetterTopic])
  cleanUp(() => letters.stop())
  await apply(prefix, [{ id: 'billing', topics: [topic], sink: `${receiver.url}/hook` }])
  const control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
  generation = String((await control.stored('billing'))['generation'])
})

test('B8: what was refused is sent again once its cause is mended, by its subscription alone, and no second time', async () => {
  await produce(
    plainKafka(),
    topic,
    ['one', 'two', 'three'].map((id) => binaryEvent(id, { headers: { 'x-own': id } })),
  )
  await letters.until((records) => records.length === 3)
  const published = header(letters.records[0]!, 'barnabas-publish-time')

  // It fails again: a new dead letter, which counts.
  expect(await redriveResult(deadLettersCommand(prefix, 'redrive', '--event-id', 'one', '-o', 'json'))).toMatchObject({
    status: 0,
    selected: 1,
    sent: 1,
  })
  const again = (await letters.until((records) => records.length === 4))[3]!
  expect(eventIdOf(again)).toBe('one')
  expect([header(again, 'barnabas-redrives'), header(again, 'barnabas-attempts')]).toEqual(['1', '1'])
  const first = letters.records.find((record) => eventIdOf(record) === 'one')!
  expect(header(again, 'barnabas-publish-time')).toBe(header(first, 'barnabas-publish-time'))
  expect(published).not.toBe(null)

  isMended = true
  const before = receiver.requests.length
  const all = await redriveResult(deadLettersCommand(prefix, 'redrive', '--subscription', 'billing', '-o', 'json'))
  expect(all).toMatchObject({ status: 0, selected: 4, sent: 3, alreadySent: 1, left: [] })
  const requests = (await receiver.until((seen) => seen.length >= before + 3)).slice(before)
  expect(requests.map(({ eventId, attempt }) => `${eventId} ${attempt}`).toSorted()).toEqual([
    'one 1',
    'three 1',
    'two 1',
  ])
  for (const { headers } of requests) {
    expect(Object.keys(headers).filter((name) => /deadletter|deliveryattempt|publishtime|outcome/.test(name))).toEqual(
      [],
    )
  }
  const third = await redriveResult(deadLettersCommand(prefix, 'redrive', '-o', 'json'))
  expect(third).toMatchObject({ status: 0, selected: 4, sent: 0, alreadySent: 4 })
  expect(receiver.requests).toHaveLength(before + 3)

  const commands = await readTopic(plainKafka(), `${prefix}.commands`)
  const said = commands.map(({ value }) => JSON.parse(value!.toString()) as Record<string, unknown>)
  const redrives = said.filter(({ command }) => command === 'redrive')
  expect(redrives.map(({ subscription, selection, sent, by }) => ({ subscription, selection, sent, by }))).toEqual(
    [
      { subscription: null, selection: { eventId: 'one' }, sent: [null, 1] },
      { subscription: 'billing', selection: {}, sent: [null, 3] },
      { subscription: null, selection: {}, sent: [null, 0] },
    ].flatMap(({ sent, ...each }) => sent.map((count) => ({ ...each, sent: count, by: 'the-operator' }))),
  )
  for (const { at } of redrives) expect(Date.now() - Date.parse(at as string)).toBeLessThan(600_000)
})

test('B8: what a redrive that was taken back has written is never attempted', async () => {
  const of = { subscription: 'billing', generation, topic }
  const producer = plainKafka().producer({ transactionalId: `${prefix}.redrive`, maxInFlightRequests: 1 })
  await producer.connect()
  const retryNow = `${prefix}.retry.now`
  try {
    const transaction = await producer.transaction()
    const messages = [0, 1].map((partition) => ({ ...retryRecord('taken-back', { ...of, offset: 1 }), partition }))
    await transaction.send({ topic: retryNow, messages, acks: -1 })
    // Still open, as one that was killed leaves it: the next redrive takes it back, and nobody waits for its time-out.
    expect(await redriveResult(deadLettersCommand(prefix, 'redrive', '-o', 'json'))).toMatchObject({
      status: 0,
      sent: 0,
    })
    await expect(transaction.commit()).rejects.toThrow()
  } finally {
    await producer.disconnect()
  }
  const messages = [0, 1].map((partition) => ({
    ...retryRecord(`behind-${partition}`, { ...of, offset: 2 + partition }),
    partition,
  }))
  await produce(plainKafka(), retryNow, messages)
  const ids = () => receiver.requests.map(({ eventId }) => eventId)
  await receiver.until(() => ids().includes('behind-0') && ids().includes('behind-1'))
  expect(ids()).not.toContain('taken-back')
})

test('B8: they are exported, one line of JSON each, all or those selected', async () => {
  const exported = async (...args: string[]) => {
    const { exited, lines } = deadLettersCommand(prefix, 'export', ...args)
    expect(await exited).toBe(0)
    return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  const all = await exported()
  expect(all).toHaveLength(4)
  expect(all.find(({ redrives }) => redrives === 1)).toMatchObject({
    subscription: 'billing',
    reason: 'UndeliverableDueToHttpBadRequest',
    event: { id: 'one' },
    data: '{"number":1}',
    headers: { 'x-own': 'one' },
  })
  expect(await exported('--event-id', 'two', '--source', `${topic}/0`)).toHaveLength(1)
  expect(await exported('--outcome', 'Busy')).toEqual([])
})

test('B8: the consumer that docs/dead-letters.md shows reads them with plain kafkajs', async () => {
  const documented = readFileSync(new URL('../../docs/dead-letters.md', import.meta.url), 'utf8')
  const [, example] = /## Your own consumer[^]*?```js\n([^]*?)```/.exec(documented)!
  const code = example!
    .replace("'127.0.0.1:9092'", `'${testBrokers().join("', '")}'`)
    .replace("'barnabas.dead-letter'", `'${deadLetterTopic}'`)
    .replace("'my-dead-letters'", `'${prefix}.my-dead-letters'`)
  // The example goes on for ever; here it is to leave its group behind empty.
  const leaving = `\nprocess.once('SIGTERM', () => void consumer.disconnect().then(() => process.exit(0)))`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code + leaving], {
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise((resolve) => child.on('close', resolve))
  const read: Record<string, unknown>[] = []
  try {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.includes('"reason"')) read.push(JSON.parse(line) as Record<string, unknown>)
      if (read.filter((each) => 'reason' in each).length >= 4) break
    }
  } finally {
    child.kill('SIGTERM')
    await ended
  }
  expect(read.map(({ eventId }) => String(eventId)).toSorted()).toEqual(['one', 'one', 'three', 'two'])
  expect(read[0]).toMatchObject({
    subscription: 'billing',
    reason: 'UndeliverableDueToHttpBadRequest',
    attempts: 1,
    lastOutcome: 'BadRequest',
    data: '{"number":1}',
  })
})
