import { buffer } from 'node:stream/consumers'
import { parseSubscription } from '@barnabas/core'
import type { CloudEvent } from '@barnabas/core'
import { expect, test } from 'vitest'
import { attemptOptions, loopbackSender, receiver, testEvent } from './test-receiver.ts'

const event = testEvent(Buffer.from('{"name":"a \\"b\\"\\n","id":"x/y"}'), { datacontenttype: 'application/json' })

interface Received {
  readonly path: string | undefined
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

async function received(written: object, ...events: readonly [CloudEvent, ...CloudEvent[]]) {
  const requests: Received[] = []
  const { origin } = await receiver(async (request, response) => {
    requests.push({ path: request.url, headers: request.headers, body: (await buffer(request)).toString() })
    response.end()
  })
  const sink = `${origin}/hook`
  const text = JSON.stringify({ id: 'a', topics: ['t'], sink, ...written }).replaceAll('AT_RECEIVER', origin)
  const parsed = parseSubscription(JSON.parse(text))
  if (parsed.kind !== 'valid') throw new Error(parsed.problems.map(({ message }) => message).join('\n'))
  const result = await loopbackSender().attempt(events, { ...attemptOptions, url: sink, shape: parsed.subscription })
  return { result, requests }
}

const template = (text: string) => ({
  form: 'TEMPLATE',
  value: { name: '$.data.name', id: '$.data.id' },
  template: text,
})

test('body, headers and URL are made from the event', async () => {
  const { result, requests } = await received(
    {
      headers: { 'X-Own': 'mine' },
      transform: {
        body: template('{"hello":"${name}"}'),
        headers: template('{"X-Name":"${name}"}'),
        url: template('AT_RECEIVER/of/${id}?name=${name}'),
      },
    },
    event,
  )
  expect(result.outcome).toBe('Delivered')
  expect(requests).toMatchObject([
    {
      path: '/of/x%2Fy?name=a%20%22b%22%0A',
      body: '{"hello":"a \\"b\\"\\n"}',
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'content-length': '21',
        'x-own': 'mine',
        'x-name': 'a "b"%0A',
        'ce-type': event.attributes.get('type'),
      },
    },
  ])
})

test('structured mode adds no attributes to a body of its own', async () => {
  const { requests } = await received({ mode: 'structured', transform: { body: template('Hello ${name}') } }, event)
  expect(requests).toMatchObject([
    { path: '/hook', body: 'Hello a "b"\n', headers: { 'content-type': 'text/plain; charset=utf-8' } },
  ])
  expect(requests[0]?.headers).not.toHaveProperty('ce-id')
})

test('ORIGINAL is the event in structured mode', async () => {
  const { requests } = await received({ transform: { body: { form: 'ORIGINAL' } } }, event)
  const plain = await received({ mode: 'structured' }, event)
  expect(requests[0]?.body).toBe(plain.requests[0]?.body)
  expect(requests[0]?.headers['content-type']).toBe('application/cloudevents+json; charset=utf-8')
  expect(requests[0]?.headers).not.toHaveProperty('ce-id')
})

test('several events are an array', async () => {
  const { requests } = await received({ transform: { body: template('Hello ${id}') } }, event, event)
  expect(requests).toMatchObject([
    { body: '["Hello x/y","Hello x/y"]', headers: { 'content-type': 'application/json; charset=utf-8' } },
  ])
})

test('where nothing can be made of an event no request is sent, and the report says why', async () => {
  const url = { form: 'TEMPLATE', value: { gone: '$.data.gone' }, template: 'AT_RECEIVER/${gone}' }
  const { result, requests } = await received({ transform: { url } }, event)
  expect(result).toMatchObject({
    outcome: 'GenericError',
    status: null,
    error: 'transform.url: the event has nothing for ${gone}',
  })
  expect(requests).toEqual([])
})

test('one event of several that nothing can be made of is found by halving', async () => {
  const body = { form: 'TEMPLATE', value: { name: '$.data.name' }, template: '${name}'.repeat(1_000) }
  const large = testEvent(Buffer.from(JSON.stringify({ name: 'x'.repeat(20_000) })), {
    datacontenttype: 'application/json',
  })
  const { result } = await received({ transform: { body } }, event, large)
  expect(result).toMatchObject({ outcome: 'PayloadTooLarge', status: 413 })
  const alone = await received({ transform: { body } }, large)
  expect(alone.result).toMatchObject({
    outcome: 'GenericError',
    status: null,
    error: 'transform.body: would have more than 16777216 bytes',
  })
})
