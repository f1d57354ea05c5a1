import { problemOfSecrets } from '@barnabas/core'
import type { DeliveryAttribute, FindSecret } from '@barnabas/core'
import { expect, test } from 'vitest'
import { withoutSecrets } from './own-headers.ts'
import { attemptOptions, loopbackSender, receiver, testEvent, testShape } from './test-receiver.ts'

const headers: readonly DeliveryAttribute[] = [{ kind: 'secret', name: 'X-Key', secret: 'KEY' }]
const known =
  (value: string): FindSecret =>
  () => ({ kind: 'value', value })
const unknown: FindSecret = (name) => ({ kind: 'unknown', message: `the secret ${name} is not known; set it` })

test.each([
  [known('hunter2'), null],
  [unknown, 'headers.X-Key: the secret KEY is not known; set it'],
  [known(''), 'headers.X-Key: the secret KEY is empty'],
  [known('a\nb'), 'headers.X-Key: the secret KEY holds a line break, a control character or one beyond ASCII'],
  [known('x'.repeat(4_097)), 'headers.X-Key: the secret KEY has 4097 bytes, more than 4096'],
])('A20: what is wrong with a secret is said without it', (findSecret, problem) => {
  expect(problemOfSecrets(headers, findSecret)).toBe(problem)
})

test.each([
  ['no secret in it', 'no secret in it'],
  ['key hunter2-long, again hunter2-long!', 'key ***, again ***!'],
  ['cut hunter2-lo', 'cut ***'],
  ['hunter2-longhunt', '******'],
  ['hun', 'hun'],
])('A20: of the answer %j is kept %j', (body, kept) => {
  expect(withoutSecrets(Buffer.from(body), headers, known('hunter2-long')).toString()).toBe(kept)
})

test('A20: a header may have any name that HTTP knows, and arrives', async () => {
  const arrived: string[] = []
  const { origin } = await receiver((request, response) => {
    arrived.push(...request.rawHeaders)
    request.resume()
    response.end()
  })
  const names = ['__proto__', 'constructor', 'X-Ok_1.~!']
  const shape = { ...testShape, headers: names.map((name) => ({ kind: 'static', name, value: 'a' }) as const) }
  await loopbackSender().attempt([testEvent()], { ...attemptOptions, shape, url: origin })
  expect(arrived).toEqual(expect.arrayContaining(names))
})

test('A20: a receiver that sends back what it got does not put the secret into a dead letter', async () => {
  const { origin } = await receiver((request, response) => {
    request.resume()
    response.writeHead(400).end(JSON.stringify(request.headers))
  })
  const shape = { ...testShape, headers }
  const sender = loopbackSender({ findSecret: known('hunter2-long') })
  const result = await sender.attempt([testEvent()], { ...attemptOptions, shape, url: origin })
  expect(result.outcome).toBe('BadRequest')
  expect(result.responseBody?.toString()).toContain('"x-key":"***"')
})

test('A3, A20: without its secret no request is made', async () => {
  const paths: unknown[] = []
  const { origin } = await receiver((request, response) => {
    paths.push(request.url)
    response.end()
  })
  const shape = { ...testShape, headers }
  const sender = loopbackSender({ findSecret: unknown })
  const result = await sender.attempt([testEvent()], { ...attemptOptions, shape, url: origin })
  expect(result).toMatchObject({
    isNoRequest: true,
    outcome: 'GenericError',
    status: null,
    error: 'headers.X-Key: the secret KEY is not known; set it',
  })
  expect(paths).toEqual([])
})
