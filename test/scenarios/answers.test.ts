/** What each answer of a receiver leads to: rows A1, A3, A4, A16, A18 and the interface's table of outcomes. */
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { apply, createSourceTopic, lagOf, metric, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf, followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Answer, Receiver } from '../support/receiver.ts'

interface Expected {
  readonly answer: Answer
  readonly outcome: string
  readonly status?: number
  readonly reason: string
}

const never = (status: number, outcome: string, suffix: string): Expected => ({
  answer: status,
  outcome,
  status,
  reason: `UndeliverableDueTo${suffix}`,
})
const retried = (answer: Answer, outcome: string): Expected => ({
  answer,
  outcome,
  ...(typeof answer === 'number' ? { status: answer } : {}),
  reason: 'MaxDeliveryAttemptsExceeded',
})

const successes: Record<string, Answer> = {
  200: 200,
  201: 201,
  202: 202,
  203: 203,
  204: 204,
  '200 with a body that is cut off': { raw: 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf of' },
}
const failures: Record<string, Expected> = {
  205: retried(205, 'GenericError'),
  206: retried(206, 'GenericError'),
  302: { ...retried(302, 'GenericError'), answer: { status: 302, headers: { location: '/elsewhere' } }, status: 302 },
  400: never(400, 'BadRequest', 'HttpBadRequest'),
  401: never(401, 'Unauthorized', 'HttpUnauthorized'),
  403: never(403, 'Forbidden', 'HttpForbidden'),
  404: retried(404, 'NotFound'),
  408: retried(408, 'TimedOut'),
  410: never(410, 'NotFound', 'HttpGone'),
  413: never(413, 'PayloadTooLarge', 'HttpRequestEntityTooLarge'),
  429: retried(429, 'Busy'),
  500: retried(500, 'GenericError'),
  503: retried(503, 'Busy'),
  'a hang': retried('hang', 'TimedOut'),
  'a reset': retried('reset', 'SocketError'),
  'a close before the head is whole': retried({ raw: 'HTTP/1.1 200' }, 'SocketError'),
  'an answer that is no HTTP': retried({ raw: 'SSH-2.0-OpenSSH_9.9\r\n' }, 'SocketError'),
}

const prefix = randomName('answers')
const attemptsOf = ({ reason }: Expected) => (reason === 'MaxDeliveryAttemptsExceeded' ? 3 : 1)
const cleanUp = cleanUpAfterAll()
let barnabas: Barnabas
let receiver: Receiver
let letters: FollowedTopics
let topic: string
let refusedUrl: string

async function letterOf(subscription: string, eventId: string): Promise<FollowedRecord> {
  const isIt = (record: FollowedRecord) =>
    header(record, 'barnabas-subscription') === subscription && eventIdOf(record) === eventId
  const records = await letters.until((all) => all.some(isIt))
  return records.find(isIt)!
}

/** A port of 127.0.0.1 on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

beforeAll(async () => {
  receiver = await startReceiver(({ path, headers }) => {
    if (path.startsWith('/other')) return 404
    const name = decodeURIComponent(String(headers['ce-type']))
    return successes[name] ?? failures[name]?.answer ?? 500
  })
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  refusedUrl = `http://127.0.0.1:${await closedPort()}`
  barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
  topic = await createSourceTopic(prefix, 'answers')
  letters = await followTopics(plainKafka(), [`${prefix}.dead-letter`])
  cleanUp(() => letters.stop())
  const retry = { schedule: ['500ms', '1s'] }
  const types = [...Object.keys(successes), ...Object.keys(failures)]
  await apply(prefix, [
    { id: 'answers', topics: [topic], sink: `${receiver.url}/hook`, types, timeout: '1s', retry },
    { id: 'refused', topics: [topic], sink: `${refusedUrl}/hook`, types: ['refused'], retry },
    {
      id: 'other-statuses',
      topics: [topic],
      sink: `${receiver.url}/other`,
      types: ['other'],
      retry: { ...retry, neverOn: [404] },
    },
    {
      id: 'all-retried',
      topics: [topic],
      sink: `${receiver.url}/hook`,
      types: ['400'],
      retry: { ...retry, neverOn: [] },
    },
    {
      id: 'dropped',
      topics: [topic],
      sink: `${receiver.url}/hook`,
      types: ['400', '503'],
      retry: { schedule: ['500ms'] },
      deadLetter: 'none',
    },
  ])
  const all = [...types, 'refused', 'other']
  await produce(
    plainKafka(),
    topic,
    all.map((type) => binaryEvent(`event of ${type}`, { type })),
  )
})

describe('success is exactly 200 to 204 (A18)', () => {
  test.each(Object.keys(successes))('%s is Delivered, at the first attempt and for good', async (name) => {
    const id = `event of ${name}`
    await receiver.until(() => receiver.of(id).length > 0)
    await barnabas.process.line(/event of a hang.*MaxDeliveryAttemptsExceeded/)
    expect(receiver.of(id).map(({ attempt }) => attempt)).toEqual([1])
    expect(letters.records.filter((record) => eventIdOf(record) === id)).toEqual([])
  })
})

describe('each failure has its outcome, and is retried or given up at once (A3, A4, A16)', () => {
  test.each(Object.keys(failures))('%s', async (name) => {
    const expected = failures[name]!
    const letter = await letterOf('answers', `event of ${name}`)
    expect({
      outcome: header(letter, 'barnabas-last-outcome'),
      status: header(letter, 'barnabas-last-status'),
      attempts: header(letter, 'barnabas-attempts'),
      reason: header(letter, 'barnabas-dead-letter-reason'),
    }).toEqual({
      outcome: expected.outcome,
      status: expected.status === undefined ? null : String(expected.status),
      attempts: String(attemptsOf(expected)),
      reason: expected.reason,
    })
    const requests = receiver.requests.filter(
      ({ path, eventId, headers }) =>
        path === '/hook' && eventId === `event of ${name}` && headers['barnabas-subscription'] === 'answers',
    )
    expect(requests.map(({ attempt }) => attempt)).toEqual([1, 2, 3].slice(0, attemptsOf(expected)))
    const error = letter.headers?.['barnabas-last-error'] as Buffer
    expect(error.length).toBeGreaterThan(0)
    expect(error.length).toBeLessThanOrEqual(1024)
    expect(error.toString()).not.toMatch(/[\r\n]/)
  })

  test('a refused connection', async () => {
    const letter = await letterOf('refused', 'event of refused')
    expect(header(letter, 'barnabas-last-outcome')).toBe('SocketError')
    expect(header(letter, 'barnabas-last-status')).toBeNull()
    expect(header(letter, 'barnabas-attempts')).toBe('3')
    expect(header(letter, 'barnabas-dead-letter-reason')).toBe('MaxDeliveryAttemptsExceeded')
    expect(header(letter, 'barnabas-last-error')).toContain('connection refused')
    expect(header(letter, 'barnabas-destination')).toBe(`${refusedUrl}/hook`)
  })

  test('a redirect is not followed', async () => {
    await letterOf('answers', 'event of 302')
    expect(receiver.requests.filter(({ path }) => path === '/elsewhere')).toEqual([])
  })

  test('any other status of neverOn is given up at once, and an empty neverOn retries everything', async () => {
    const other = await letterOf('other-statuses', 'event of other')
    expect(header(other, 'barnabas-attempts')).toBe('1')
    expect(header(other, 'barnabas-dead-letter-reason')).toBe('UndeliverableDueToHttpStatus')
    const badRequest = await letterOf('all-retried', 'event of 400')
    expect(header(badRequest, 'barnabas-attempts')).toBe('3')
    expect(header(badRequest, 'barnabas-dead-letter-reason')).toBe('MaxDeliveryAttemptsExceeded')
  })

  test('without dead-lettering an event is dropped and counted (A3, A21)', async () => {
    await vi.waitFor(
      async () => expect(await metric(barnabas.url, 'barnabas_dropped_total', { subscription: 'dropped' })).toBe(2),
      { timeout: 10_000 },
    )
    const requests = receiver.requests.filter(({ headers }) => headers['barnabas-subscription'] === 'dropped')
    expect(requests.map(({ eventId, attempt }) => `${eventId}, attempt ${attempt}`).toSorted()).toEqual([
      'event of 400, attempt 1',
      'event of 503, attempt 1',
      'event of 503, attempt 2',
    ])
    expect(letters.records.filter((record) => header(record, 'barnabas-subscription') === 'dropped')).toEqual([])
  })

  test('nothing is left over: every group has come to the end of the topic', async () => {
    for (const id of ['answers', 'refused', 'other-statuses', 'all-retried', 'dropped']) {
      await vi.waitFor(async () => expect(await lagOf(`${prefix}.subscription.${id}`, topic)).toBe(0), 5_000)
    }
  })
})
