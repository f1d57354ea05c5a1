import type { ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type EventBridge from '@alicloud/eventbridge'
import { expect, test } from 'vitest'
import { createBusClient } from './bus-client.ts'
import { busCalls, busEvent, busRequest } from './bus-request.ts'
import { httpTarget, withoutOwnHeaders } from './test-http-target.ts'
import type { Seen } from './test-http-target.ts'

// Vitest and Node do not agree on what the default export of such a CommonJS module is.
const sdk = createRequire(import.meta.url)('@alicloud/eventbridge') as typeof EventBridge

const credentials = { accessKeyId: 'LTAI5tExample', accessKeySecret: 'hunter2+/=', securityToken: null }
const noStop = new AbortController().signal
const eventOf = (id: string, data = '{"n":1}') =>
  Buffer.from(`{"specversion":"1.0","id":"${id}","source":"/s","type":"t","data":${data}}`)
const idsOf = ({ body }: Seen) => (JSON.parse(body.toString()) as { id: string }[]).map(({ id }) => id)
const entriesOf = (codes: readonly (string | null)[]) => ({
  RequestId: '6',
  FailedEntryCount: codes.filter((code) => code !== null).length,
  EntryList: codes.map((ErrorCode) => ({
    EventId: '1',
    TraceId: '2',
    ErrorCode,
    ErrorMessage: ErrorCode && 'it says why',
  })),
})
const allWell = ({ body }: Seen) => entriesOf((JSON.parse(body.toString()) as unknown[]).map(() => null))

async function bus(answer: (response: ServerResponse, seen: Seen, requestNumber: number) => void) {
  const target = await httpTarget((response, seen) => answer(response, seen.at(-1) as Seen, seen.length))
  const { endpoint, poster } = target
  const client = createBusClient({ endpoint, bus: 'letters', credentials, poster, now: Date.now, nonce: () => 'n1' })
  return {
    ...target,
    client,
    put: (...ids: string[]) =>
      client.put(
        ids.map((id) => eventOf(id)),
        noStop,
      ),
  }
}

const answered = (status: number, body: unknown) => (response: ServerResponse) =>
  response
    .writeHead(status, { 'content-type': 'application/json' })
    .end(typeof body === 'string' ? body : JSON.stringify(body))

test.each([undefined, 'CAIS+token/='])(
  'B7: what is sent is what Alibaba’s own SDK sends, with the token %s',
  async (token) => {
    const { seen, authority } = await bus((response, request) => answered(200, allWell(request))(response))
    const { accessKeyId, accessKeySecret } = credentials
    const access = {
      accessKeyId,
      accessKeySecret,
      ...(token === undefined ? {} : { securityToken: token, type: 'sts' }),
    }
    const theirs = new sdk.default(new sdk.Config({ ...access, endpoint: authority, protocol: 'http' }))
    const event = { id: '1', source: '/s', type: 't', specversion: '1.0', datacontenttype: 'application/json' }
    await theirs.putEvents([
      new sdk.CloudEvent({
        ...event,
        data: Buffer.from('{"grüße":"<&>"}'),
        extensions: { aliyuneventbusname: 'letters' },
      }),
    ])
    const [request] = seen as [Seen]
    const [sent] = JSON.parse(request.body.toString()) as [object]
    const { date = '', 'x-acs-signature-nonce': nonce } = request.headers
    const ours = busRequest([busEvent(Buffer.from(JSON.stringify(sent)), 'letters')], {
      credentials: { ...credentials, securityToken: token ?? null },
      now: Date.parse(date),
      nonce: String(nonce),
    })
    expect([request.method, request.url]).toEqual(['POST', ours.path])
    expect(ours.headers).toEqual(withoutOwnHeaders(request.headers))
    expect(ours.body.toString()).toBe(request.body.toString())
  },
)

test('an event goes to this bus, whichever it came from, its data byte for byte', () => {
  const event = Buffer.from('{"id":"1","aliyuneventbusname":"other","data": {"n":1.00}}')
  expect(busEvent(event, 'letters').toString()).toBe('{"id":"1","data":{"n":1.00},"aliyuneventbusname":"letters"}')
})

test('calls have at most 16 events and 1 MB', () => {
  const ofBytes = (bytes: number) => Buffer.alloc(bytes, 'x')
  const sizes = (events: Buffer[]) => busCalls(events).map((call) => call.length)
  expect(sizes([])).toEqual([])
  expect(sizes(Array.from({ length: 33 }, () => ofBytes(10)))).toEqual([16, 16, 1])
  // "[", three ",", and "]": five bytes beside the events.
  const quarters = Array.from({ length: 3 }, () => ofBytes(262_143))
  expect(sizes([...quarters, ofBytes(262_142)])).toEqual([4])
  expect(sizes([...quarters, ofBytes(262_143)])).toEqual([3, 1])
  const at = { credentials, now: 0, nonce: 'n1' }
  expect(busRequest([...quarters, ofBytes(262_142)], at).body).toHaveLength(1_048_576)
})

test('an event over 256 KB is refused, and its followers go', async () => {
  const { seen, client } = await bus((response, request) => answered(200, allWell(request))(response))
  const large = eventOf('2', JSON.stringify('x'.repeat(262_144)))
  const [first, second, third] = await client.put([eventOf('1'), large, eventOf('3')], noStop)
  expect([first, third]).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }])
  expect(second).toMatchObject({ kind: 'refused', code: 'EventTooLarge' })
  expect(seen.map(idsOf)).toEqual([['1', '3']])
})

test('each event of a call has its own result', async () => {
  const { put } = await bus(answered(200, entriesOf([null, 'InvalidArgument', 'Throttling'])))
  expect(await put('1', '2', '3')).toEqual([
    { kind: 'accepted' },
    { kind: 'refused', code: 'InvalidArgument', message: 'it says why' },
    { kind: 'unavailable', message: 'answered 200 Throttling: it says why' },
  ])
})

test('a call that is refused as a whole is made again event by event', async () => {
  const { seen, put } = await bus((response, request) =>
    idsOf(request).includes('2')
      ? answered(400, { code: 'InvalidArgument', message: 'subject', requestId: '6' })(response)
      : answered(200, allWell(request))(response),
  )
  expect(await put('1', '2', '3')).toEqual([
    { kind: 'accepted' },
    { kind: 'refused', code: 'InvalidArgument', message: 'subject' },
    { kind: 'accepted' },
  ])
  expect(seen.map(idsOf)).toEqual([['1', '2', '3'], ['1'], ['2'], ['3']])
})

test('a bus that is not there refuses', async () => {
  const { put } = await bus(answered(404, { code: 'EventBusNotExist', message: 'no bus' }))
  expect(await put('1')).toEqual([{ kind: 'refused', code: 'EventBusNotExist', message: 'no bus' }])
})

test.each([
  ['credentials', 403, { code: 'InvalidAccessKeyId', message: 'no' }, 'answered 403 InvalidAccessKeyId: no'],
  ['a signature', 400, { code: 'SignatureNotMatch', message: 'no' }, 'answered 400 SignatureNotMatch: no'],
  ['load', 429, { code: 'TooManyRequests', message: 'no' }, 'answered 429 TooManyRequests: no'],
  ['a fault', 500, { code: 'X', message: 'no' }, 'answered 500 X: no'],
  ['a quoted secret', 403, { code: 'X', message: 'hunter2+/= is wrong' }, 'answered 403 X: (secret) is wrong'],
  ['another server', 404, '<html>no</html>', 'answered 404, and not as EventBridge does'],
  ['no JSON', 200, 'OK', 'answered 200, and not as EventBridge does'],
  ['nothing', 200, '', 'answered 200, and not as EventBridge does'],
  ['null', 200, 'null', 'answered 200, and not as EventBridge does'],
  ['too few entries', 200, entriesOf([null]), 'answered 200, and not as EventBridge does'],
  [
    'a sum that is wrong',
    200,
    { ...entriesOf([null, null]), FailedEntryCount: 1 },
    'answered 200, and not as EventBridge does',
  ],
  [
    'a huge answer',
    200,
    JSON.stringify(entriesOf([null, null])) + ' '.repeat(1_000_000),
    'answered 200, and not as EventBridge does',
  ],
])('what may pass is tried again: %s', async (_name, status, body, message) => {
  const { put } = await bus(answered(status, body))
  const result = { kind: 'unavailable', message }
  expect(await put('1', '2')).toEqual([result, result])
})

test('a redirect is not followed', async () => {
  const { seen, put } = await bus((response) => response.writeHead(307, { location: '/elsewhere' }).end())
  expect(await put('1')).toEqual([{ kind: 'unavailable', message: 'answered 307; redirects are not followed' }])
  expect(seen).toHaveLength(1)
})

test('a bus that takes the events and loses the connection gets them again', async () => {
  const { seen, put } = await bus((response, request, requestNumber) =>
    requestNumber === 1 ? response.destroy() : answered(200, allWell(request))(response),
  )
  expect(await put('1')).toMatchObject([{ kind: 'unavailable' }])
  expect(await put('1')).toEqual([{ kind: 'accepted' }])
  expect(seen.map(idsOf)).toEqual([['1'], ['1']])
})
