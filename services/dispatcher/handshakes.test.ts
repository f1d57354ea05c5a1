import { nextStatus, parseSubscription } from '@barnabas/core'
import type { HandshakeReply, PlainRequest, StatusRecord, Subscription } from '@barnabas/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createHandshakes } from './handshakes.ts'
import type { Handshakes } from './handshakes.ts'

const logger = { debug() {}, info: vi.fn(), warn() {}, error() {} }
const start = Date.parse('2026-12-02T10:00:00Z')

beforeEach(() => {
  vi.useFakeTimers({ now: start })
  asked = []
  statuses = []
  reply = async () => answered(503)
})
afterEach(() => void vi.useRealTimers())

let asked: { readonly request: PlainRequest; readonly at: number; readonly timeoutMs: number }[]
let statuses: StatusRecord[]
let reply: (request: PlainRequest, signal: AbortSignal) => Promise<HandshakeReply>

const answered = (status: number, body = '', allowedOrigin: string | null = null): HandshakeReply => ({
  kind: 'answered',
  status,
  body,
  allowedOrigin,
  allowedRate: null,
  isBodyCut: false,
})

function subscriptionOf(handshake: 'event-grid' | 'cloudevents', revision = 1, rate = 'none'): Subscription {
  const sink = 'https://shop.example/hook'
  const parsed = parseSubscription({ id: 'orders', topics: ['orders'], sink, handshake, rate })
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems))
  return { ...parsed.subscription, generation: 7, revision }
}

function handshakesOf(publicUrl: string | null = 'https://barnabas.example'): Handshakes {
  return createHandshakes({
    asker: {
      ask(request, { timeoutMs, signal }) {
        asked.push({ request, at: Date.now() - start, timeoutMs })
        return reply(request, signal)
      },
    },
    statuses: {
      get: () => statuses.at(-1) ?? null,
      caughtUp: async () => {},
      async write(id, wanted) {
        const next = nextStatus(id, statuses.at(-1) ?? null, { ...wanted, now: Date.now() })
        if (next !== null) statuses.push(next)
      },
    },
    publicUrl,
    origin: 'barnabas.example',
    timeScale: 1,
    now: () => Date.now(),
    logger,
  })
}

const never = new AbortController().signal
const codeOf = ({ body }: PlainRequest) =>
  (JSON.parse(body ?? '') as [{ data: { validationCode: string; validationUrl?: string } }])[0].data

test('a receiver that is starting up is asked again after 5 s, each time for 30 s, with the same code', async () => {
  reply = async (request) =>
    asked.length < 3
      ? answered(503)
      : answered(200, JSON.stringify({ validationResponse: codeOf(request).validationCode }))
  const made = handshakesOf().make(subscriptionOf('event-grid'), never)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(await made).toMatchObject({ kind: 'succeeded', revision: 1 })
  expect(asked.map(({ at, timeoutMs }) => [at, timeoutMs])).toEqual([
    [0, 30_000],
    [5_000, 30_000],
    [10_000, 30_000],
  ])
  expect(new Set(asked.map(({ request }) => JSON.stringify(codeOf(request)))).size).toBe(1)
  expect(statuses.map(({ status, handshake }) => `${status} ${handshake?.kind}`)).toEqual([
    'Starting trying',
    'Starting trying',
    'Starting succeeded',
  ])
})

test('after five minutes it has failed, and the status says why', async () => {
  const made = handshakesOf(null).make(subscriptionOf('cloudevents'), never)
  await vi.advanceTimersByTimeAsync(300_000)
  expect(await made).toMatchObject({ kind: 'failed' })
  expect(asked).toHaveLength(60)
  expect(statuses.at(-1)).toMatchObject({
    status: 'Start Failed',
    reason: expect.stringContaining('the last try: answered OPTIONS with 503'),
  })
  // Trying, the problem once, failed.
  expect(statuses).toHaveLength(3)
})

const validationOf = () => statuses.at(-1)?.handshake?.validation ?? ''

test('one that may agree is not asked again, and agrees by its URL', async () => {
  reply = async () => answered(200)
  const handshakes = handshakesOf()
  const made = handshakes.make(subscriptionOf('event-grid'), never)
  await vi.advanceTimersByTimeAsync(60_000)
  expect(asked).toHaveLength(1)
  const { validationUrl } = codeOf(asked[0]!.request)
  expect(validationUrl).toMatch(/^https:\/\/barnabas\.example\/handshakes\/orders\/[\w-]{43}$/)
  expect(statuses.at(-1)).toMatchObject({ status: 'Starting', reason: expect.stringContaining(validationUrl!) })
  // Whoever knows the URL can agree: it is in the status, and not in the log.
  expect(JSON.stringify(logger.info.mock.calls)).not.toContain(validationUrl)

  handshakes.called({ subscription: 'orders', validation: 'ab'.repeat(32), allowedRate: null })
  handshakes.called({ subscription: 'others', validation: validationOf(), allowedRate: null })
  handshakes.called({ subscription: 'orders', validation: '', allowedRate: null })
  await vi.advanceTimersByTimeAsync(0)
  expect(statuses.at(-1)?.handshake?.kind).toBe('awaiting')
  handshakes.called({ subscription: 'orders', validation: validationOf(), allowedRate: 60 })
  expect(await made).toMatchObject({ kind: 'succeeded', allowedRate: 60 })
})

test('nobody calls within ten minutes', async () => {
  reply = async () => answered(200)
  const made = handshakesOf().make(subscriptionOf('event-grid'), never)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(await made).toMatchObject({ kind: 'failed', reason: expect.stringContaining('nobody has called') })
})

test('a call while the receiver has not answered yet ends the try', async () => {
  let cut = false
  reply = (_request, signal) =>
    new Promise((resolve) =>
      signal.addEventListener('abort', () => {
        cut = true
        resolve({ kind: 'unanswered', problem: 'cut off by our own stop' })
      }),
    )
  const handshakes = handshakesOf()
  const made = handshakes.make(subscriptionOf('cloudevents'), never)
  await vi.advanceTimersByTimeAsync(1)
  handshakes.called({ subscription: 'orders', validation: validationOf(), allowedRate: null })
  expect(await made).toMatchObject({ kind: 'succeeded' })
  expect(cut).toBe(true)
})

test('another leader goes on with the same URL, and hears what was called before it led', async () => {
  reply = async () => answered(200)
  const stop = new AbortController()
  const first = handshakesOf().make(subscriptionOf('event-grid'), stop.signal)
  await vi.advanceTimersByTimeAsync(1)
  stop.abort()
  expect(await first).toBeNull()

  const second = handshakesOf()
  second.called({ subscription: 'orders', validation: validationOf(), allowedRate: null })
  expect(await second.make(subscriptionOf('event-grid'), never)).toMatchObject({ kind: 'succeeded' })
  expect(asked).toHaveLength(1)
})

test('a changed subscription has another URL, and the former one is worth nothing', async () => {
  reply = async () => answered(200)
  const stop = new AbortController()
  const handshakes = handshakesOf()
  void handshakes.make(subscriptionOf('event-grid'), stop.signal)
  await vi.advanceTimersByTimeAsync(1)
  const former = validationOf()
  stop.abort()
  void handshakes.make(subscriptionOf('event-grid', 2), never)
  await vi.advanceTimersByTimeAsync(1)
  expect(validationOf()).not.toBe(former)
  handshakes.called({ subscription: 'orders', validation: former, allowedRate: null })
  await vi.advanceTimersByTimeAsync(1)
  expect(statuses.at(-1)?.handshake).toMatchObject({ kind: 'awaiting', revision: 2 })
})

test.each([
  ['none', undefined, 'succeeded'],
  ['2/s', '120', 'trying'],
  ['90/min', '90', 'trying'],
])('a subscription with rate: %s asks for %s requests per minute, and an answer has to name some', async (...each) => {
  const [rate, asksFor, comesTo] = each
  reply = async () => answered(200, '', '*')
  const stop = new AbortController()
  const made = handshakesOf(null).make(subscriptionOf('cloudevents', 1, rate), stop.signal)
  await vi.advanceTimersByTimeAsync(0)
  expect(asked[0]?.request.headers['webhook-request-rate']).toBe(asksFor)
  expect(statuses.at(-1)?.handshake?.kind).toBe(comesTo)
  stop.abort()
  await made
})
