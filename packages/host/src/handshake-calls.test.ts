import { createHash } from 'node:crypto'
import { nextStatus } from '@barnabas/core'
import type { Command, Handshake, StatusRecord } from '@barnabas/core'
import type { ProduceResult } from '@barnabas/kafka'
import { beforeEach, expect, test } from 'vitest'
import { createHandshakeCalls } from './handshake-calls.ts'

const token = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOP_'
const validation = createHash('sha256').update(token).digest('hex')
const now = Date.parse('2026-12-02T10:00:00Z')
const awaiting: Handshake = {
  kind: 'awaiting',
  form: 'event-grid',
  revision: 1,
  validation,
  url: `https://barnabas.example/handshakes/orders/${token}`,
  since: '2026-12-02T09:55:00.000Z',
  until: '2026-12-02T10:05:00.000Z',
  problem: null,
}
const { url: _url, since: _since, until: _until, problem: _problem, ...over } = awaiting
const succeeded: Handshake = { ...over, kind: 'succeeded', at: '2026-12-02T09:59:00.000Z', allowedRate: null }
const failed: Handshake = { ...over, kind: 'failed', at: '2026-12-02T09:59:00.000Z', reason: 'late' }

let status: StatusRecord | null
let written: Command[]
let writes: ProduceResult
let listeners: ((id: string) => void)[]
let caughtUp: () => Promise<void>

beforeEach(() => {
  become(awaiting)
  written = []
  writes = { kind: 'acknowledged', partition: 0, offset: 0 }
  listeners = []
  caughtUp = async () => {}
})

function become(handshake: Handshake): void {
  const wanted = { status: 'Starting', reason: '', generation: 7, revision: 1, handshake, now } as const
  status = nextStatus('orders', null, wanted)
}

const calls = createHandshakeCalls({
  statuses: { get: (id) => (id === 'orders' ? status : null), caughtUp: () => caughtUp() },
  async write(command) {
    written.push(command)
    // The dispatcher hears it a moment later.
    if (writes.kind === 'acknowledged') {
      queueMicrotask(() => {
        become(succeeded)
        for (const listener of listeners) listener('orders')
      })
    }
    return writes
  },
  onStatus(listener) {
    listeners.push(listener)
    return () => void listeners.splice(listeners.indexOf(listener), 1)
  },
  now: () => now,
})

const call = (path = `/handshakes/orders/${token}`, method = 'GET', headers: Record<string, string | string[]> = {}) =>
  calls({ method, path, headers, remoteAddress: '192.0.2.7' })

test.each(['GET', 'POST'])('%s of the right URL passes the word on, and says what became of it', async (method) => {
  expect(await call(undefined, method)).toMatchObject({ status: 200, body: 'The handshake of orders has succeeded.\n' })
  expect(written).toEqual([
    {
      subscription: 'orders',
      command: 'callback',
      validation,
      allowedRate: null,
      by: '192.0.2.7',
      at: '2026-12-02T10:00:00.000Z',
    },
  ])
  expect(JSON.stringify(written)).not.toContain(token)
  expect(listeners).toEqual([])
})

test('the first part of the public URL may stand before it, and a rate beside it', async () => {
  const path = `/hooks/handshakes/orders/${token}`
  expect(await call(path, 'POST', { 'webhook-allowed-rate': '120' })).toMatchObject({ status: 200 })
  expect(written).toMatchObject([{ allowedRate: 120 }])
})

test.each<[string, Parameters<typeof call>, number]>([
  ['a wrong token', [`/handshakes/orders/${token.replace('_', '-')}`], 404],
  ['an unknown subscription', [`/handshakes/others/${token}`], 404],
  ['HEAD', [undefined, 'HEAD'], 405],
  ['DELETE', [undefined, 'DELETE'], 405],
  ['a rate that is none', [undefined, 'POST', { 'webhook-allowed-rate': '0' }], 400],
  ['two rates', [undefined, 'POST', { 'webhook-allowed-rate': ['1', '2'] }], 400],
])('%s changes nothing', async (_, args, expected) => {
  expect(await call(...args)).toMatchObject({ status: expected })
  expect(written).toEqual([])
})

test.each(['/', '/handshakes', '/handshakes/orders', `/handshakes/orders/${token}x`, `/handshakes/../${token}`])(
  '%s is no path of a handshake',
  async (path) => {
    expect(await call(path)).toBeNull()
  },
)

test('twice: the second time it is gone', async () => {
  await call()
  expect(await call()).toMatchObject({ status: 410, body: 'This URL was called before; it serves once.\n' })
  expect(written).toHaveLength(1)
})

test.each<[string, Handshake]>([
  ['after it has failed', failed],
  ['after its time', { ...awaiting, until: '2026-12-02T10:00:00.000Z' }],
])('late, %s', async (_, handshake) => {
  become(handshake)
  expect(await call()).toMatchObject({
    status: 410,
    body: 'This URL was called too late; the handshake is over.\n',
  })
  expect(written).toEqual([])
})

test('a handshake that the dispatcher has just begun is looked for in the topic', async () => {
  status = null
  caughtUp = async () => become(awaiting)
  expect(await call()).toMatchObject({ status: 200 })
})

test('while Kafka is away the caller is asked to call again', async () => {
  writes = { kind: 'unavailable', message: 'no broker' }
  expect(await call()).toMatchObject({ status: 503 })
  status = null
  caughtUp = async () => {
    throw new Error('stopped')
  }
  expect(await call()).toMatchObject({ status: 503 })
})
