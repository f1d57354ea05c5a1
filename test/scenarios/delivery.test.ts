/** From a source topic to the receiver: rows A1, A2, D2, D3 and "What a webhook receives" of the interface. */
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { apply, createSourceTopic, lagOf, metric, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas, Written } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent, structuredEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { ReceivedRequest, Receiver } from '../support/receiver.ts'

const prefix = randomName('delivery')
const cleanUp = cleanUpAfterAll()
let barnabas: Barnabas
let receiver: Receiver

beforeAll(async () => {
  // `/dead` is never answered: whoever waits for it waits long.
  receiver = await startReceiver(({ path }) => (path === '/dead' ? 'hang' : 204))
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
})

const subscriptionTo = (id: string, topic: string, rest: Record<string, unknown> = {}): Written => ({
  id,
  topics: [topic],
  sink: `${receiver.url}/${id}`,
  ...rest,
})

/** What a subscription's receiver has got, once it is `count` requests. */
async function receivedBy(id: string, count: number): Promise<readonly ReceivedRequest[]> {
  const ofIt = (all: readonly ReceivedRequest[]) => all.filter(({ path }) => path === `/${id}`)
  return ofIt(await receiver.until((all) => ofIt(all).length >= count))
}

/** What a subscription's receiver has got when the subscription has come to the end of the topic. */
async function receivedInAllBy(id: string, topic: string): Promise<readonly ReceivedRequest[]> {
  await vi.waitFor(async () => expect(await lagOf(`${prefix}.subscription.${id}`, topic)).toBe(0), 20_000)
  return receiver.requests.filter(({ path }) => path === `/${id}`)
}

const idsOf = (requests: readonly ReceivedRequest[]) => requests.map(({ eventId }) => eventId).toSorted()

/** The headers of a request that say something about the event or its delivery. */
const eventHeaders = ({ headers }: ReceivedRequest) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /^(ce-|barnabas-|content-type$)/.test(name)))

describe('what a webhook receives', () => {
  const data = '{"exact": 9007199254740993, "one": 1.0, "twice": 1, "twice": 2, "nul": "\\u0000"}'
  const subject = 'Größe "100%" 👋'
  const bytes = Buffer.from([0x00, 0xff, 0xfe, 0x80, 0x0d, 0x0a])
  let topic: string
  let binary: readonly ReceivedRequest[]
  let structured: readonly ReceivedRequest[]
  const events = [
    binaryEvent('b-json', {
      data,
      headers: { ce_subject: subject, ce_traceparent: '00-ab-cd-01', 'x-mine': 'not an attribute' },
    }),
    binaryEvent('b-bytes', { data: bytes, headers: { 'content-type': 'application/octet-stream' } }),
    binaryEvent('b-text', { data: 'plain "text"', headers: { 'content-type': 'text/plain; charset=utf-8' } }),
    binaryEvent('b-null', { data: null }),
    structuredEvent(
      `{"specversion":"1.0","id":"s-json","source":"/tests","type":"test.made","subject":${JSON.stringify(subject)},"traceparent":"00-ab-cd-01","datacontenttype":"application/json","data":${data}}`,
    ),
    structuredEvent(
      `{"specversion":"1.0","id":"s-bytes","source":"/tests","type":"test.made","datacontenttype":"application/octet-stream","data_base64":"${bytes.toString('base64')}"}`,
      { 'content-type': 'application/cloudevents+json; charset=UTF-8' },
    ),
    // A console producer sets no headers.
    { value: '{"specversion":"1.0","id":"s-bare","source":"/tests","type":"test.made"}' },
  ]
  beforeAll(async () => {
    topic = await createSourceTopic(prefix, 'modes', 2)
    await apply(prefix, [subscriptionTo('binary', topic), subscriptionTo('structured', topic, { mode: 'structured' })])
    await produce(plainKafka(), topic, events)
    binary = await receivedBy('binary', events.length)
    structured = await receivedBy('structured', events.length)
  })
  const binaryOf = (id: string) => binary.find(({ eventId }) => eventId === id)!
  const structuredOf = (id: string) => structured.find(({ eventId }) => eventId === id)!

  test('is one event per request, each of them once, with its numbers (A1, A2)', () => {
    const all = ['b-bytes', 'b-json', 'b-null', 'b-text', 's-bare', 's-bytes', 's-json']
    expect(idsOf(binary)).toEqual(all)
    expect(idsOf(structured)).toEqual(all)
    for (const [requests, id] of [
      [binary, 'binary'],
      [structured, 'structured'],
    ] as const) {
      for (const { headers, attempt } of requests) {
        expect(headers['barnabas-subscription']).toBe(id)
        expect(attempt).toBe(1)
      }
    }
  })

  test.each(['b-json', 's-json'])(
    '%s in binary mode: attributes as headers, percent-encoded, data as it stands',
    (id) => {
      expect(eventHeaders(binaryOf(id))).toEqual({
        'ce-specversion': '1.0',
        'ce-id': id,
        'ce-source': '/tests',
        'ce-type': 'test.made',
        'ce-subject': 'Gr%C3%B6%C3%9Fe%20%22100%25%22%20%F0%9F%91%8B',
        'ce-traceparent': '00-ab-cd-01',
        'content-type': 'application/json',
        'barnabas-subscription': 'binary',
        'barnabas-attempt': '1',
      })
      expect(binaryOf(id).headers['x-mine']).toBeUndefined()
      expect(binaryOf(id).body.toString()).toBe(data)
    },
  )

  test.each(['b-bytes', 's-bytes'])('%s in binary mode: bytes as bytes', (id) => {
    expect(binaryOf(id).headers['content-type']).toBe('application/octet-stream')
    expect(binaryOf(id).body).toEqual(bytes)
  })

  test('no data in binary mode: an empty body', () => {
    expect(binaryOf('b-null').body).toHaveLength(0)
    expect(binaryOf('s-bare').body).toHaveLength(0)
    expect(binaryOf('s-bare').headers['content-type']).toBeUndefined()
  })

  test('text in binary mode keeps its content type', () => {
    expect(binaryOf('b-text').headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(binaryOf('b-text').body.toString()).toBe('plain "text"')
  })

  test('a structured event in structured mode is the record’s value, byte for byte', () => {
    for (const [id, index] of [
      ['s-json', 4],
      ['s-bytes', 5],
      ['s-bare', 6],
    ] as const) {
      expect(structuredOf(id).body.toString()).toBe(events[index]!.value)
      expect(structuredOf(id).headers['content-type']).toMatch(/^application\/cloudevents\+json(; ?charset=utf-8)?$/i)
      expect(Object.keys(structuredOf(id).headers).filter((name) => name.startsWith('ce-'))).toEqual([])
    }
  })

  test('a binary event in structured mode carries its data as its text stands', () => {
    const request = structuredOf('b-json')
    expect(request.headers['content-type']).toMatch(/^application\/cloudevents\+json/)
    expect(request.body.toString()).toContain(data)
    const { data: parsed, ...attributes } = JSON.parse(request.body.toString()) as Record<string, unknown>
    expect(parsed).toMatchObject({ one: 1, twice: 2 })
    expect(attributes).toEqual({
      specversion: '1.0',
      id: 'b-json',
      source: '/tests',
      type: 'test.made',
      subject,
      traceparent: '00-ab-cd-01',
      datacontenttype: 'application/json',
    })
  })

  test('bytes in structured mode are data_base64, and no data is no member', () => {
    const withBytes = JSON.parse(structuredOf('b-bytes').body.toString()) as Record<string, unknown>
    expect(Buffer.from(String(withBytes['data_base64']), 'base64')).toEqual(bytes)
    expect(withBytes).not.toHaveProperty('data')
    const withNothing = JSON.parse(structuredOf('b-null').body.toString()) as Record<string, unknown>
    expect(Object.keys(withNothing).filter((name) => name.startsWith('data') && name !== 'datacontenttype')).toEqual([])
  })
})

describe('several subscriptions of one topic', () => {
  test('each get every event that their types and filters let through (A1)', async () => {
    const topic = await createSourceTopic(prefix, 'filters', 2)
    const filters = {
      everything: {},
      types: { types: ['order.made', 'order.paid'] },
      exact: { filters: [{ exact: { type: 'order.made', source: '/shop' } }] },
      prefix: { filters: [{ prefix: { type: 'order.' } }] },
      suffix: { filters: [{ suffix: { type: '.made' } }] },
      all: { filters: [{ all: [{ prefix: { type: 'order.' } }, { exact: { source: '/shop' } }] }] },
      any: { filters: [{ any: [{ exact: { type: 'order.paid' } }, { exact: { source: '/stock' } }] }] },
      not: { filters: [{ not: { prefix: { type: 'order.' } } }] },
      both: { types: ['order.made'], filters: [{ exact: { source: '/shop' } }, { suffix: { id: '2' } }] },
      extension: { filters: [{ exact: { region: 'north' } }] },
    }
    await apply(
      prefix,
      Object.entries(filters).map(([id, rest]) => subscriptionTo(`by-${id}`, topic, rest)),
    )
    await produce(plainKafka(), topic, [
      binaryEvent('made-1', { type: 'order.made', source: '/shop' }),
      binaryEvent('made-2', { type: 'order.made', source: '/shop', headers: { ce_region: 'north' } }),
      binaryEvent('paid', { type: 'order.paid', source: '/shop' }),
      binaryEvent('counted', { type: 'stock.made', source: '/stock' }),
      structuredEvent('{"specversion":"1.0","id":"whole","source":"/desk","type":"order.made","region":"north"}'),
    ])
    const got: Record<string, string[]> = {}
    for (const id of Object.keys(filters)) got[id] = idsOf(await receivedInAllBy(`by-${id}`, topic))
    expect(got).toEqual({
      everything: ['counted', 'made-1', 'made-2', 'paid', 'whole'],
      types: ['made-1', 'made-2', 'paid', 'whole'],
      exact: ['made-1', 'made-2'],
      prefix: ['made-1', 'made-2', 'paid', 'whole'],
      suffix: ['counted', 'made-1', 'made-2', 'whole'],
      all: ['made-1', 'made-2', 'paid'],
      any: ['counted', 'paid'],
      not: ['counted'],
      both: ['made-2'],
      extension: ['made-2', 'whole'],
    })
  })

  test('a dead one does not hold up another', async () => {
    const topic = await createSourceTopic(prefix, 'dead')
    await apply(prefix, [
      subscriptionTo('dead', topic, { concurrency: 1, timeout: '10m' }),
      subscriptionTo('alive', topic, { concurrency: 1 }),
    ])
    const events = Array.from({ length: 50 }, (_each, index) => binaryEvent(`alive-${index}`))
    await produce(plainKafka(), topic, events)
    const requests = await receivedInAllBy('alive', topic)
    expect(new Set(idsOf(requests)).size).toBe(50)
    expect(receiver.requests.filter(({ path }) => path === '/dead')).toHaveLength(1)
    expect(await lagOf(`${prefix}.subscription.dead`, topic)).toBe(50)
  })
})

describe('where a subscription starts', () => {
  test('latest: with what comes after apply; earliest: with what is there', async () => {
    const topic = await createSourceTopic(prefix, 'from', 2)
    const before = Array.from({ length: 6 }, (_each, index) => binaryEvent(`before-${index}`))
    await produce(plainKafka(), topic, before)
    await apply(prefix, [
      subscriptionTo('from-default', topic),
      subscriptionTo('from-latest', topic, { from: 'latest' }),
      subscriptionTo('from-earliest', topic, { from: 'earliest' }),
    ])
    await produce(plainKafka(), topic, [binaryEvent('later')])
    const all = [...before.map((_event, index) => `before-${index}`), 'later']
    expect(idsOf(await receivedBy('from-earliest', all.length))).toEqual(all)
    expect(idsOf(await receivedInAllBy('from-default', topic))).toEqual(['later'])
    expect(idsOf(await receivedInAllBy('from-latest', topic))).toEqual(['later'])
  })
})

describe('a process', () => {
  test('answers on /livez, /readyz and /metrics', async () => {
    for (const path of ['livez', 'readyz']) {
      const response = await fetch(`${barnabas.url}/${path}`)
      expect({ path, status: response.status }).toEqual({ path, status: 200 })
    }
    const response = await fetch(`${barnabas.url}/metrics`)
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
    const delivered = await metric(barnabas.url, 'barnabas_attempts_total', {
      subscription: 'by-everything',
      outcome: 'Delivered',
    })
    expect(delivered).toBe(5)
    expect((await fetch(`${barnabas.url}/`)).status).toBe(404)
  })

  test('delivers what was produced while none ran, once, and nothing of before again', async () => {
    const topic = await createSourceTopic(prefix, 'restart', 2)
    await apply(prefix, [subscriptionTo('restarted', topic)])
    await produce(plainKafka(), topic, [binaryEvent('first'), binaryEvent('second')])
    await receivedBy('restarted', 2)
    expect(await barnabas.process.kill('SIGTERM')).toBe(0)
    await expect(fetch(`${barnabas.url}/livez`)).rejects.toThrow()
    const missed = Array.from({ length: 10 }, (_each, index) => binaryEvent(`missed-${index}`))
    await produce(plainKafka(), topic, missed)
    barnabas = await startBarnabas(prefix)
    await receivedBy('restarted', 12)
    const requests = await receivedInAllBy('restarted', topic)
    expect(idsOf(requests)).toEqual(['first', ...missed.map((_event, index) => `missed-${index}`), 'second'])
    expect(requests.every(({ attempt }) => attempt === 1)).toBe(true)
  })
})
