import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import MnsClient from '@alicloud/mns'
import { expect, test } from 'vitest'
import { createSmqClient } from './smq-client.ts'
import { smqMessage, smqRequest } from './smq-request.ts'
import { httpTarget, withoutOwnHeaders } from './test-http-target.ts'
import type { Seen } from './test-http-target.ts'

const credentials = { accessKeyId: 'LTAI5tExample', accessKeySecret: 'hunter2+/=', securityToken: null }
const letter = Buffer.from('{"specversion":"1.0","id":"1","data":{"grüße":"<&>"}}')
const position = { topic: 'barnabas.dead-letter', partition: 3, offset: 17 }
const noStop = new AbortController().signal
const sent =
  '<?xml version="1.0"?><Message xmlns="http://mns.aliyuncs.com/doc/v1/"><MessageId>5F290C926D472878</MessageId>' +
  '<MessageBodyMD5>C5DD56A39F5F7BB8B3337C6D11B6D8C7</MessageBodyMD5></Message>'
const errorOf = (code: string, message = 'it says why') =>
  `<?xml version="1.0"?><Error xmlns="http://mns.aliyuncs.com/doc/v1/"><Code>${code}</Code>` +
  `<Message>${message}</Message><RequestId>5</RequestId><HostId>http://mns</HostId></Error>`

async function queue(answer: (response: ServerResponse, requestNumber: number) => void) {
  const { seen, endpoint, poster } = await httpTarget((response, requests) => answer(response, requests.length))
  const client = createSmqClient({ endpoint, queue: 'letters', credentials, poster, now: Date.now })
  return { seen, endpoint, client, write: () => client.write(letter, position, noStop) }
}

const answered = (status: number, body: string) => (response: ServerResponse) =>
  response.writeHead(status, { 'content-type': 'text/xml;charset=utf-8' }).end(body)

test.each([null, 'CAIS+token/='])(
  'B7: what is sent is what Alibaba’s own SDK sends, with the token %s',
  async (token) => {
    const { seen, endpoint } = await queue(answered(201, sent))
    const theirs = new MnsClient('1234567890', { endpoint, ...credentials, securityToken: token ?? '' })
    await theirs.sendMessage('letters', { MessageBody: letter.toString('base64') })
    const [request] = seen as [Seen]
    const now = Date.parse(request.headers.date ?? '')
    const ours = smqRequest(smqMessage(letter, position), {
      queue: 'letters',
      credentials: { ...credentials, securityToken: token },
      now,
    })
    expect(ours.headers).toEqual(withoutOwnHeaders(request.headers))
    expect([request.method, request.url]).toEqual(['POST', ours.path])
    expect(ours.body).toEqual(request.body)
  },
)

test('B7: a letter is written, and its bytes come out of the message again', async () => {
  const { seen, write } = await queue(answered(201, sent))
  expect(await write()).toEqual({ kind: 'accepted' })
  const [{ method, url, headers, body }] = seen as [Seen]
  expect([method, url]).toEqual(['POST', '/queues/letters/messages'])
  const digest = createHash('md5').update(body).digest('hex')
  expect(headers).toMatchObject({ 'content-type': 'text/xml', 'content-md5': Buffer.from(digest).toString('base64') })
  const [, message = ''] = /<MessageBody>(.*)<\/MessageBody>/.exec(body.toString()) ?? []
  expect(Buffer.from(message, 'base64')).toEqual(letter)
})

test('a letter that does not fit into 64 KB goes by reference, never cut', () => {
  const largest = Buffer.alloc(49_152, 'x')
  expect(Buffer.from(smqMessage(largest, position), 'base64')).toEqual(largest)
  const message = smqMessage(Buffer.alloc(49_153, 'x'), position)
  expect(JSON.parse(Buffer.from(message, 'base64').toString())).toEqual({
    specversion: '1.0',
    id: '3/17',
    source: '/barnabas.dead-letter',
    type: 'Barnabas.DeadLetterReference',
    datacontenttype: 'application/json',
    data: { topic: 'barnabas.dead-letter', partition: 3, offset: 17, bytes: 49_153 },
  })
})

test.each([
  [404, 'QueueNotExist'],
  [400, 'InvalidArgument'],
  [400, 'MalformedXML'],
])('%i %s is refused for good', async (status, code) => {
  const { write } = await queue(answered(status, errorOf(code)))
  expect(await write()).toEqual({ kind: 'refused', code, message: 'it says why' })
})

test.each([
  ['credentials', 403, errorOf('SignatureDoesNotMatch'), 'answered 403 SignatureDoesNotMatch: it says why'],
  ['a clock', 408, errorOf('TimeExpired'), 'answered 408 TimeExpired: it says why'],
  ['load', 503, errorOf('QpsLimitExceeded'), 'answered 503 QpsLimitExceeded: it says why'],
  ['a quoted secret', 403, errorOf('X', 'key hunter2+/= is wrong'), 'answered 403 X: key (secret) is wrong'],
  ['another server', 404, '<html><body>no</body></html>', 'answered 404, and not as Simple Message Queue does'],
  ['no XML', 201, '{"ok":true}', 'answered 201, and not as Simple Message Queue does'],
  ['cut XML', 201, sent.slice(0, 90), 'answered 201, and not as Simple Message Queue does'],
  ['nothing', 201, '', 'answered 201, and not as Simple Message Queue does'],
  ['another success', 200, sent, 'answered 200, and not as Simple Message Queue does'],
  [
    'a huge answer',
    201,
    `${sent}<!--${'x'.repeat(1_000_000)}-->`,
    'answered 201, and not as Simple Message Queue does',
  ],
  ['growing entities', 404, '<!DOCTYPE a [<!ENTITY b "bbbb">]><Error><Code>&b;</Code></Error>', 'answered 404 &b;: '],
])('what may pass is tried again: %s', async (_name, status, body, message) => {
  const { write } = await queue(answered(status, body))
  expect(await write()).toEqual({ kind: 'unavailable', message: message.trimEnd() })
})

test('a redirect is not followed', async () => {
  const { seen, write } = await queue((response) => response.writeHead(307, { location: '/elsewhere' }).end())
  expect(await write()).toEqual({ kind: 'unavailable', message: 'answered 307; redirects are not followed' })
  expect(seen).toHaveLength(1)
})

test('a queue that takes the letter and loses the connection gets it again, the same one', async () => {
  const { seen, write } = await queue((response, requestNumber) =>
    requestNumber === 1 ? response.destroy() : answered(201, sent)(response),
  )
  expect(await write()).toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('connection') as unknown,
  })
  expect(await write()).toEqual({ kind: 'accepted' })
  expect(seen.map(({ body }) => body)).toEqual([seen[0]?.body, seen[0]?.body])
})

test('our own stop ends a try at once', async () => {
  const stop = new AbortController()
  const { client } = await queue(() => stop.abort())
  expect(await client.write(letter, position, stop.signal)).toEqual({
    kind: 'unavailable',
    message: 'cut off by our own stop',
  })
})
