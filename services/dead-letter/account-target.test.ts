import type { ServerResponse } from 'node:http'
import { unknownShape } from '@barnabas/core'
import type { KafkaRecord } from '@barnabas/core'
import type { FoundConnection } from '@barnabas/host'
import { expect, test } from 'vitest'
import { createAccountTarget } from './account-target.ts'
import { httpTarget } from './test-http-target.ts'
import type { Seen } from './test-http-target.ts'

const noStop = new AbortController().signal

function letter(id: string, data = 'null'): KafkaRecord {
  const text = {
    ce_specversion: '1.0',
    ce_id: id,
    ce_source: '/orders',
    ce_type: 'order',
    'content-type': 'application/json',
    'barnabas-subscription': 'one',
    'barnabas-dead-letter-reason': 'MaxDeliveryAttemptsExceeded',
    'barnabas-attempts': '4',
    'barnabas-last-status': '503',
  }
  const headers = Object.fromEntries(Object.entries(text).map(([name, value]) => [name, Buffer.from(value)]))
  return { topic: 'letters', partition: 0, offset: 3, timestamp: 0, key: null, value: Buffer.from(data), headers }
}

const several = (count: number) =>
  [letter('0'), ...Array.from({ length: count - 1 }, (_, index) => letter(String(index + 1)))] as const

async function target(
  kind: 'mns' | 'eventbridge',
  answer: (response: ServerResponse, seen: readonly Seen[]) => void,
  change: (known: FoundConnection) => FoundConnection = (known) => known,
) {
  const { seen, endpoint, poster } = await httpTarget(answer)
  const credentials = { accessKeyId: 'me', accessKeySecret: 'hunter2', securityToken: null }
  const to = createAccountTarget({
    kind,
    resource: 'letters',
    connection: () => change({ kind: 'connection', endpoint, credentials }),
    shapeOf: () => ({ ...unknownShape, schema: 'EventGridSchema' }),
    poster,
    now: Date.now,
    nonce: () => 'n',
  })
  return { seen, to }
}

const event = {
  specversion: '1.0',
  id: '0',
  source: '/orders',
  type: 'order',
  deadletterreason: 'MaxDeliveryAttemptsExceeded',
  deliveryattempts: 4,
  lasthttpstatuscode: 503,
  barnabassubscription: 'one',
}
const allAccepted = several(20).map(() => ({ kind: 'accepted' }))
const taken = '<?xml version="1.0"?><Message><MessageId>1</MessageId></Message>'

test('B6, B7: a queue gets the event with what is known of its delivery, each in a message of its own', async () => {
  const { seen, to } = await target('mns', (response) => response.writeHead(201).end(taken))
  expect(await to.write(several(20), noStop)).toEqual(allAccepted)
  const events = seen.map(({ body }) => {
    const [, message = ''] = /<MessageBody>(.*)<\/MessageBody>/.exec(body.toString()) ?? []
    return JSON.parse(Buffer.from(message, 'base64').toString()) as { readonly id: string }
  })
  expect(events.find(({ id }) => id === '0')).toMatchObject(event)
  expect(new Set(events.map(({ id }) => id)).size).toBe(20)
})

test('a queue that takes nothing is asked for eight letters, and not for a hundred', async () => {
  const { seen, to } = await target('mns', (response) => response.writeHead(503).end())
  const writes = await to.write(several(100), noStop)
  expect(writes).toHaveLength(100)
  expect(new Set(writes.map(({ kind }) => kind))).toEqual(new Set(['unavailable']))
  expect(seen).toHaveLength(8)
})

test('B6, B7: a bus gets the events sixteen at a time', async () => {
  const { seen, to } = await target('eventbridge', (response, requests) => {
    const events = JSON.parse(requests.at(-1)?.body.toString() ?? '') as readonly unknown[]
    response.end(JSON.stringify({ FailedEntryCount: 0, EntryList: events.map(() => ({ EventId: '1' })) }))
  })
  expect(await to.write(several(20), noStop)).toEqual(allAccepted)
  const [first, second] = seen.map(({ body }) => JSON.parse(body.toString()) as readonly unknown[])
  expect([first?.length, second?.length]).toEqual([16, 4])
  expect(first?.[0]).toMatchObject({ ...event, aliyuneventbusname: 'letters' })
})

test('an account that no file names is waited for', async () => {
  const { seen, to } = await target(
    'mns',
    () => {},
    () => ({ kind: 'unknown', message: 'the connection x is not known' }),
  )
  expect(await to.write(several(1), noStop)).toEqual([
    { kind: 'unavailable', message: 'the connection x is not known' },
  ])
  expect(seen).toEqual([])
})
