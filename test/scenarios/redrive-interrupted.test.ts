/** Redrive under `kill -9`, with two operators, and what it leaves: row B8. No service runs; the tier is looked at. */
import { beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, removeEverything } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import { deadLettersCommand, firstPublished, produceDeadLetters, redriveResult } from '../support/dead-letters.ts'
import type { LetterParts } from '../support/dead-letters.ts'
import { followTopics, header } from '../support/followed-topics.ts'
import { plainKafka, randomName, readTopic } from '../support/kafka.ts'

const prefix = randomName('redrive-interrupted')
const retryNow = `${prefix}.retry.now`
const cleanUp = cleanUpAfterAll()
const subscription = 'billing'
let generation: number

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  const topic = await createSourceTopic(prefix, 'orders')
  await apply(prefix, [{ id: subscription, topics: [topic], sink: 'https://example.com/hook' }], {}, ['--no-wait'])
  const control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
  generation = (await control.stored(subscription))['generation'] as number
})

function* letters(count: number, firstOffset: number): Generator<LetterParts> {
  for (let index = 0; index < count; index++) {
    yield { id: `event-${firstOffset + index}`, subscription, generation, offset: firstOffset + index }
  }
}

/** How often each event of these offsets stands in the tier, as who reads what is committed sees it. */
async function timesInTier(count: number, firstOffset: number): Promise<ReadonlyMap<number, number>> {
  const times = new Map<number, number>()
  for (const record of await readTopic(plainKafka(), retryNow)) {
    const offset = Number(header(record, 'barnabas-source-offset'))
    if (offset >= firstOffset && offset < firstOffset + count) times.set(offset, (times.get(offset) ?? 0) + 1)
  }
  return times
}

const isOnceEach = (times: ReadonlyMap<number, number>, count: number) =>
  times.size === count && [...times.values()].every((each) => each === 1)

test('B8: killed in the middle (SIGKILL), redrive goes on where it ended: nothing is lost and nothing is sent twice', async () => {
  const count = 4_000
  await produceDeadLetters(`${prefix}.dead-letter`, letters(count, 0))
  const tier = await followTopics(plainKafka(), [retryNow])
  // Slow enough that it is far from its end when the first transaction is seen, on any machine.
  const first = deadLettersCommand(prefix, 'redrive', '--rate', '1000', '-o', 'json')
  await tier.until((records) => records.length > 0)
  await first.kill('SIGKILL')
  expect(first.lines).not.toContain('{')
  await tier.stop()

  const second = await redriveResult(deadLettersCommand(prefix, 'redrive', '-o', 'json'))
  expect(second).toMatchObject({ status: 0, selected: count, left: [] })
  expect(second.alreadySent).toBeGreaterThan(0)
  expect(second.sent + second.alreadySent).toBe(count)
  expect(isOnceEach(await timesInTier(count, 0), count)).toBe(true)
})

test('B8: two operators at once send nothing twice: the second one ends the first', async () => {
  const [count, firstOffset] = [2_500, 100_000]
  await produceDeadLetters(`${prefix}.dead-letter`, letters(count, firstOffset))
  const both = [1, 2].map(() => deadLettersCommand(prefix, 'redrive', '--since', '2026-01-01', '-o', 'json'))
  const statuses = await Promise.all(both.map(({ exited }) => exited))
  expect(statuses).toContain(0)
  for (const [index, { lines }] of both.entries()) {
    if (statuses[index] !== 0) expect(lines.join('\n')).toMatch(/another redrive has begun/)
  }
  const times = await timesInTier(count, firstOffset)
  expect(isOnceEach(times, count)).toBe(true)
  const again = await redriveResult(deadLettersCommand(prefix, 'redrive', '-o', 'json'))
  expect(again).toMatchObject({ status: 0, sent: 0 })
})

test('B8: what cannot be sent again is counted by its cause and stays where it is', async () => {
  const topic = await createSourceTopic(prefix, 'letters')
  const of = (offset: number, changes: Partial<LetterParts> = {}): LetterParts => {
    return { id: `left-${offset}`, subscription, generation, offset, ...changes }
  }
  const own = [
    of(200_000),
    of(200_002, { subscription: 'never-made' }),
    of(200_004, { generation: generation - 1 }),
    of(200_006, { redrives: 5 }),
    of(200_008, { redrives: 4 }),
    of(200_010, { reason: 'RecordTooLarge', value: null }),
  ]
  await produceDeadLetters(topic, own)
  const args = ['redrive', '--topic', topic, '-o', 'json']

  const dry = await redriveResult(deadLettersCommand(prefix, ...args, '--dry-run'))
  expect(dry).toMatchObject({ status: 1, selected: 6, sent: 2 })
  const real = await redriveResult(deadLettersCommand(prefix, ...args))
  expect(real).toMatchObject({
    status: 1,
    selected: 6,
    sent: 2,
    left: [
      { because: 'subscription-gone', count: 2, first: `${topic}/0/1` },
      { because: 'too-many-redrives', count: 1, first: `${topic}/0/3` },
      { because: 'value-lost', count: 1, first: `${topic}/0/5` },
    ],
  })
  expect((await timesInTier(20, 200_000)).size).toBe(2)

  const told = await redriveResult(deadLettersCommand(prefix, ...args, '--to', subscription, '--max-redrives', '6'))
  expect(told).toMatchObject({ status: 1, sent: 3, alreadySent: 2, left: [{ because: 'value-lost', count: 1 }] })

  const sent = (await readTopic(plainKafka(), retryNow)).filter((record) => {
    return Number(header(record, 'barnabas-source-offset')) >= 200_000
  })
  for (const record of sent) {
    expect(header(record, 'barnabas-subscription-generation')).toBe(String(generation))
    expect(header(record, 'barnabas-publish-time')).toBe(new Date(firstPublished).toISOString())
    expect([header(record, 'barnabas-attempts'), header(record, 'barnabas-hops')]).toEqual(['0', '1'])
    expect(header(record, 'x-own')).toBe('kept')
    expect(record.key?.toString()).toBe('the key')
    const gone = ['ce_deadletterreason', 'ce_deliveryattempts', 'ce_lastdeliveryoutcome', 'ce_publishtime']
    for (const name of [
      ...gone,
      'ce_lastdeliveryattempttime',
      'barnabas-dead-letter-reason',
      'barnabas-response-body',
    ]) {
      expect(record.headers).not.toHaveProperty(name)
    }
  }
  const redrives = sent.map((record) => [header(record, 'ce_id'), header(record, 'barnabas-redrives')])
  expect(Object.fromEntries(redrives)).toEqual({
    'left-200000': '1',
    'left-200002': '1',
    'left-200004': '1',
    'left-200006': '6',
    'left-200008': '5',
  })
})
