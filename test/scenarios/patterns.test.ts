/** Patterns and transforms in our own notation (issue 6, point 9): what matches arrives as it is made, on its retry too. */
import { beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent, structuredEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const prefix = randomName('patterns')
const cleanUp = cleanUpAfterAll()
let receiver: Receiver

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  receiver = await startReceiver(({ path, attempt }) => (path === '/rooms/again' && attempt === 1 ? 503 : 204))
  cleanUp(() => receiver.close())
  const barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
})

test('a pattern decides, a template makes body and URL, and a retry gets the same', async () => {
  const topic = await createSourceTopic(prefix, 'orders')
  const pattern = {
    source: [{ prefix: '/te' }],
    type: [{ 'anything-but': ['refund'] }],
    data: {
      amount: [{ numeric: ['>', 10, '<=', 1_000] }],
      client: [{ cidr: '10.0.0.0/8' }],
      gone: [{ exists: false }],
    },
  }
  const body = {
    form: 'TEMPLATE',
    value: { who: '$.data.who', items: '$.data.items', id: '$.id' },
    template: '{"text":"${who} (${id})","items":${items}}',
  }
  const url = { form: 'TEMPLATE', value: { room: '$.data.room' }, template: `${receiver.url}/rooms/\${room}` }
  const headers = { form: 'CONSTANT', value: '{"X-Team":"billing"}' }
  await apply(prefix, [
    {
      id: 'rooms',
      topics: [topic],
      sink: `${receiver.url}/rooms`,
      filters: [{ pattern }],
      transform: { body, url, headers },
      retry: { schedule: ['100ms'] },
    },
  ])
  const data = (changes: object) =>
    JSON.stringify({ amount: 50, client: '10.1.2.3', who: 'a "b"\n', items: [1], room: 'one', ...changes })
  await produce(plainKafka(), topic, [
    binaryEvent('too small', { data: data({ amount: 10 }) }),
    binaryEvent('elsewhere', { data: data({ client: '11.0.0.1' }) }),
    binaryEvent('there', { data: data({ gone: null }) }),
    binaryEvent('refunded', { type: 'refund', data: data({}) }),
    binaryEvent('matches', { data: data({}) }),
    structuredEvent(
      `{"specversion":"1.0","id":"retried","source":"/tests","type":"t","data":{"amount":11.0,"client":"10.255.0.1","who":"c","items":[1.0, 9007199254740993],"room":"again"}}`,
    ),
  ])
  const requests = await receiver.until((all) => all.length >= 3)
  const got = requests.map(({ path, attempt, headers: all, body: sent }) => [
    `${path}, ${attempt}`,
    [all['x-team'], sent.toString()],
  ])
  const again = '{"text":"c (retried)","items":[1.0, 9007199254740993]}'
  expect(Object.fromEntries(got)).toEqual({
    '/rooms/again, 1': ['billing', again],
    '/rooms/again, 2': ['billing', again],
    '/rooms/one, 1': ['billing', '{"text":"a \\"b\\"\\n (matches)","items":[1]}'],
  })
  expect(requests).toHaveLength(3)
})
