import { parseSubscription } from '@barnabas/core'
import type { HandshakeReply, PlainRequest } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createDeletions } from './deletions.ts'

const now = Date.parse('2026-12-02T10:00:00Z')
const parsed = parseSubscription({
  id: 'orders-to-billing',
  topics: ['orders'],
  sink: 'https://shop.example/hook',
  handshake: 'event-grid',
  headers: { 'X-Team': 'billing' },
})
if (parsed.kind === 'invalid') throw new Error('it is valid')
const { subscription } = parsed

function deletions(reply: (signal: AbortSignal) => Promise<HandshakeReply>) {
  const asked: { readonly request: PlainRequest; readonly url: string; readonly timeoutMs: number }[] = []
  const lines: string[] = []
  const log = (_fields: object, line: string) => void lines.push(line)
  const told = createDeletions({
    asker: {
      ask(request, { url, timeoutMs, signal }) {
        asked.push({ request, url, timeoutMs })
        return reply(signal)
      },
    },
    timeScale: 1,
    now: () => now,
    logger: { debug: log, info: log, warn: log, error: log },
  })
  return { ...told, asked, lines }
}

const answered: HandshakeReply = {
  kind: 'answered',
  status: 500,
  allowedOrigin: null,
  allowedRate: null,
  body: '',
  isBodyCut: false,
}

test("Event Grid's SubscriptionDeletedEvent, once, whatever the answer", async () => {
  const { tell, close, asked, lines } = deletions(async () => answered)
  tell(subscription)
  await close()
  expect(asked).toHaveLength(1)
  const [{ request, url, timeoutMs }] = asked as [(typeof asked)[0]]
  expect([url, timeoutMs, request.method]).toEqual(['https://shop.example/hook', 30_000, 'POST'])
  expect(request.headers).toMatchObject({
    'aeg-event-type': 'SubscriptionDeletion',
    'aeg-subscription-name': 'ORDERS-TO-BILLING',
    'content-type': 'application/json; charset=utf-8',
  })
  expect(JSON.parse(request.body ?? '')).toEqual([
    {
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      topic: 'orders',
      subject: '',
      data: { eventSubscriptionId: 'orders-to-billing' },
      eventType: 'Microsoft.EventGrid.SubscriptionDeletedEvent',
      eventTime: '2026-12-02T10:00:00.000Z',
      metadataVersion: '1',
      dataVersion: '1',
    },
  ])
  expect(lines).toEqual(['the receiver was told that the subscription is deleted'])
})

test('no more than 64 are under way, and an end cuts them off', async () => {
  const cutOff: HandshakeReply = { kind: 'unanswered', problem: 'cut off by our own stop' }
  const { tell, close, asked, lines } = deletions(
    (signal) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(cutOff), { once: true })),
  )
  for (let count = 0; count < 70; count += 1) tell(subscription)
  expect([asked.length, lines.length]).toEqual([64, 6])
  await close()
  tell(subscription)
  expect([asked.length, lines.length]).toEqual([64, 70])
})
