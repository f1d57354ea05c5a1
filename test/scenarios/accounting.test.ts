/** Two hundred events through each of done, retry, dead-letter and drop, every one of them accounted for (A1, A3, A21). */
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { apply, createSourceTopic, lagOf, metric, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf, header } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import type { ReadMessage } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const each = 200
/** What becomes of the events of each type, and the attempts that each takes. */
const fates = {
  done: { attempts: 1, sequence: [204] },
  retry: { attempts: 3, sequence: [503, 500, 200] },
  'dead-letter': { attempts: 2, sequence: [503, 503] },
  drop: { attempts: 2, sequence: [503, 503] },
} as const
type Fate = keyof typeof fates
const names = Object.keys(fates) as Fate[]

const prefix = randomName('accounting')
const cleanUp = cleanUpAfterAll()
let barnabas: Barnabas
let receiver: Receiver
let topic: string
let letters: readonly ReadMessage[]

const groupOf = (fate: Fate) => `${prefix}.subscription.${fate}`
const idsOf = (fate: Fate) => Array.from({ length: each }, (_each, index) => `${fate}-${index}`).toSorted()

beforeAll(async () => {
  receiver = await startReceiver(({ headers, attempt }) => {
    const { sequence } = fates[headers['barnabas-subscription'] as Fate]
    return sequence[attempt - 1] ?? 500
  })
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  topic = await createSourceTopic(prefix, 'events', 4)
  const retry = { schedule: ['300ms', '500ms'] }
  await apply(
    prefix,
    names.map((fate) => ({
      id: fate,
      topics: [topic],
      sink: `${receiver.url}/${fate}`,
      types: [fate],
      retry: { ...retry, maxAttempts: fates[fate].attempts },
      ...(fate === 'drop' ? { deadLetter: 'none' } : {}),
    })),
  )
  // Mixed, as they come in life.
  const events = Array.from({ length: each }, (_each, index) =>
    names.map((fate) => binaryEvent(`${fate}-${index}`, { type: fate, key: `key-${index}` })),
  )
  await produce(plainKafka(), topic, events.flat())
  const verdicts = { done: 'done', retry: 'done', 'dead-letter': 'dead-letter', drop: 'drop' }
  for (const fate of names) {
    const labels = { subscription: fate, verdict: verdicts[fate] }
    await vi.waitUntil(async () => (await metric(barnabas.url, 'barnabas_verdicts_total', labels)) >= each, 30_000)
  }
  letters = await readTopic(plainKafka(), `${prefix}.dead-letter`)
})

describe('two hundred events each', () => {
  test.each(names)('%s: every attempt reached the receiver, none twice', (fate) => {
    const requests = receiver.requests.filter(({ path }) => path === `/${fate}`)
    const attempts = requests.map(({ eventId, attempt }) => `${eventId} attempt ${attempt}`).toSorted()
    const expected = idsOf(fate).flatMap((id) =>
      fates[fate].sequence.map((_status, index) => `${id} attempt ${index + 1}`),
    )
    expect(attempts).toEqual(expected.toSorted())
  })

  test('those to be dead-lettered stand in the dead-letter topic, each once, and nothing else', () => {
    expect(letters.map((letter) => eventIdOf(letter) ?? 'none').toSorted()).toEqual(idsOf('dead-letter'))
    for (const letter of letters) {
      expect(header(letter, 'barnabas-subscription')).toBe('dead-letter')
      expect(header(letter, 'barnabas-attempts')).toBe('2')
    }
    const places = letters.map((letter) =>
      ['topic', 'partition', 'offset'].map((name) => header(letter, `barnabas-source-${name}`)).join('/'),
    )
    expect(new Set(places).size).toBe(each)
  })

  test('the counts of /metrics say the same (A21)', async () => {
    const count = (name: string, labels: Record<string, string>) => metric(barnabas.url, `barnabas_${name}`, labels)
    for (const fate of names) {
      expect(await count('attempts_total', { subscription: fate })).toBe(each * fates[fate].attempts)
      const retries = await count('verdicts_total', { subscription: fate, verdict: 'retry' })
      expect(retries).toBe(each * (fates[fate].attempts - 1))
      expect(await count('events_matched_total', { subscription: fate })).toBe(each)
      const isDelivered = fate === 'done' || fate === 'retry'
      expect(await count('events_delivered_total', { subscription: fate })).toBe(isDelivered ? each : 0)
    }
    expect(await count('attempts_total', { subscription: 'retry', outcome: 'Delivered' })).toBe(each)
    expect(await count('attempts_total', { subscription: 'retry', outcome: 'Busy' })).toBe(each)
    expect(await count('attempts_total', { subscription: 'retry', outcome: 'GenericError' })).toBe(each)
    const exhausted = { subscription: 'dead-letter', reason: 'MaxDeliveryAttemptsExceeded' }
    expect(await count('dead_letters_total', exhausted)).toBe(each)
    expect(await count('dead_letters_total', {})).toBe(each)
    const dropped = { subscription: 'drop', reason: 'MaxDeliveryAttemptsExceeded' }
    expect(await count('dropped_total', dropped)).toBe(each)
    expect(await count('dropped_total', {})).toBe(each)
    expect(await count('events_filtered_total', {})).toBe(each * names.length * (names.length - 1))
  })

  test('every offset of the source topic and of the tiers is committed', async () => {
    for (const fate of names) {
      await vi.waitFor(async () => expect(await lagOf(groupOf(fate), topic)).toBe(0), 5_000)
    }
    for (const tier of ['now', '1s']) {
      await vi.waitFor(async () => expect(await lagOf(`${prefix}.retrier`, `${prefix}.retry.${tier}`)).toBe(0), 5_000)
    }
  })
})
