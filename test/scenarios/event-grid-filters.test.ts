/** Event Grid's filters, from a source topic to whoever they let an event pass to: row A1 (every matching subscription). */
import { beforeAll, expect, test, vi } from 'vitest'
import { apply, createSourceTopic, lagOf, metric, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent, structuredEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const prefix = randomName('event-grid-filters')
const cleanUp = cleanUpAfterAll()
let barnabas: Barnabas
let receiver: Receiver
let topic: string

const json = (id: string, subject: string, data: unknown, headers: Record<string, string> = {}) =>
  binaryEvent(id, { data: JSON.stringify(data), headers: { ce_subject: subject, ...headers } })

const events = [
  json(
    'red',
    '/Orders/1.JSON',
    { amount: 7, color: 'Red', tags: ['new', 5], paid: true, note: null },
    { ce_rank: '5' },
  ),
  json('blue', '/orders/2.json', { amount: 12.5, color: 'dark blue', tags: ['Sale'], paid: false, note: 'x' }),
  json('bare', '/returns/3', {}),
  structuredEvent(
    '{"specversion":"1.0","id":"structured","source":"/tests","type":"test.made","subject":"/orders/4","rank":51,' +
      '"data":{"amount":5,"color":"RED","tags":[],"paid":true}}',
  ),
  structuredEvent(
    '{"specversion":"1.0","id":"base64","source":"/tests","type":"test.made","subject":"/orders/5",' +
      '"datacontenttype":"application/json","data_base64":"eyJhbW91bnQiOjd9"}',
  ),
  binaryEvent('text', { data: '{"amount":7}', headers: { 'content-type': 'text/plain' } }),
  binaryEvent('broken', { data: '{"amount":7' }),
]

const all = ['red', 'blue', 'bare', 'structured', 'base64', 'text', 'broken']
const advanced = (operatorType: string, key: string, rest: object = {}) => ({
  advanced: { operatorType, key, ...rest },
})

/** Each is a subscription: what it is called, its filters, and the events that it gets. */
const subscriptions: readonly (readonly [id: string, filters: readonly object[], expected: readonly string[]])[] = [
  ['subject', [{ subject: { beginsWith: '/orders/', endsWith: '.json' } }], ['red', 'blue']],
  ['subject-case', [{ subject: { beginsWith: '/orders/', endsWith: '.json', caseSensitive: true } }], ['blue']],
  [
    'range',
    [
      advanced('NumberInRange', 'data.amount', {
        values: [
          [5, 7],
          [100, 200],
        ],
      }),
    ],
    ['red', 'structured'],
  ],
  [
    'not-range',
    [advanced('NumberNotInRange', 'data.amount', { values: [[5, 7]] })],
    ['blue', 'bare', 'base64', 'text', 'broken'],
  ],
  [
    'not-in',
    [advanced('NumberNotIn', 'data.amount', { values: [7] })],
    ['blue', 'bare', 'structured', 'base64', 'text', 'broken'],
  ],
  ['greater', [advanced('NumberGreaterThan', 'data.amount', { value: 7 })], ['blue']],
  ['color', [advanced('StringIn', 'data.color', { values: ['red', 'green'] })], ['red', 'structured']],
  ['not-color', [advanced('StringNotContains', 'Data.color', { values: ['BLUE'] })], ['red', 'structured']],
  ['paid', [advanced('BoolEquals', 'data.paid', { value: true })], ['red', 'structured']],
  ['null', [advanced('IsNullOrUndefined', 'data.note')], all.filter((id) => id !== 'blue')],
  ['tags', [advanced('StringIn', 'data.tags', { values: ['sale', '5'], onArrays: true })], ['blue']],
  ['no-arrays', [advanced('StringNotIn', 'data.tags', { values: ['sale'] })], ['bare', 'base64', 'text', 'broken']],
  ['rank', [advanced('StringBeginsWith', 'rank', { values: ['5'] })], ['red', 'structured']],
  ['rank-number', [advanced('NumberLessThan', 'rank', { value: 51 })], ['red']],
  ['id', [advanced('StringEndsWith', 'Id', { values: ['E', 'T'] })], ['blue', 'bare', 'text']],
  [
    'together',
    [
      { subject: { beginsWith: '/orders' } },
      advanced('NumberLessThanOrEquals', 'data.amount', { value: 7 }),
      { not: advanced('IsNotNull', 'rank') },
    ],
    [],
  ],
  [
    'any',
    [{ any: [{ exact: { subject: '/returns/3' } }, advanced('NumberIn', 'data.amount', { values: [5, 12.5] })] }],
    ['blue', 'bare', 'structured'],
  ],
  ['everything', [], all],
]

beforeAll(async () => {
  receiver = await startReceiver(() => 204)
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  topic = await createSourceTopic(prefix, 'orders')
  await apply(
    prefix,
    subscriptions.map(([id, filters]) => ({ id, topics: [topic], sink: `${receiver.url}/${id}`, filters })),
  )
  await produce(plainKafka(), topic, events)
})

test.each(subscriptions)(
  '%s gets what its filters let pass, once, and nothing else (A1)',
  async (id, _filters, expected) => {
    await vi.waitFor(async () => expect(await lagOf(`${prefix}.subscription.${id}`, topic)).toBe(0), 20_000)
    const received = receiver.requests.filter(({ path }) => path === `/${id}`)
    expect(received.map(({ eventId }) => eventId).toSorted()).toEqual(expected.toSorted())
  },
)

test('what filters did not let pass is counted', async () => {
  const passed = subscriptions.reduce((sum, [, , expected]) => sum + expected.length, 0)
  const filtered = subscriptions.length * events.length - passed
  await vi.waitFor(
    async () => expect(await metric(barnabas.url, 'barnabas_events_filtered_total')).toBe(filtered),
    20_000,
  )
})

test.each([
  [
    advanced('StringBeginWith', 'data.a', { values: ['x'] }),
    /filters\[0\]\.advanced\.operatorType: "StringBeginWith" is not an operator; .*\(did you mean StringBeginsWith\?\)/,
  ],
  [
    advanced('StringIn', 'data.a', { values: Array.from({ length: 26 }, (_each, index) => `${index}`) }),
    /filters\[0\]\.advanced\.values: brings the operands of all advanced filters above 25/,
  ],
])('apply refuses %# by name', async (filter, message) => {
  await expect(
    apply(prefix, [{ id: 'refused', topics: [topic], sink: receiver.url, filters: [filter] }]),
  ).rejects.toThrow(message)
})
