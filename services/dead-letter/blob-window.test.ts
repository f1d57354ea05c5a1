import { expect, test } from 'vitest'
import { blobsOf } from './blob-window.ts'
import type { WindowMember } from './blob-window.ts'

const partition = { topic: 'letters', partition: 2 }
const time = Date.parse('2026-08-08T05:56:00.000Z')
const member = (offset: number, subscriptionId = 'orders', more: Partial<WindowMember> = {}): WindowMember => ({
  offset,
  timestamp: 1_000 + offset,
  subscriptionId,
  time,
  json: Buffer.from(`{"offset":${offset}}`),
  ...more,
})
const pathOf = (members: readonly WindowMember[], of = partition) => blobsOf(of, members, 300_000)[0]!.path

test('A13: one blob for each subscription, in the hour in which its first dead letter is due to be written', () => {
  const blobs = blobsOf(partition, [member(4), member(5, 'bills'), member(7)], 300_000)
  const uuid = '[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}'
  expect(blobs.map((blob) => ({ ...blob, body: blob.body.toString() }))).toEqual([
    {
      subscriptionId: 'orders',
      path: expect.stringMatching(new RegExp(`^ORDERS/2026/8/8/6/${uuid}\\.json$`)) as string,
      body: '[{"offset":4},{"offset":7}]',
      events: 2,
      dueAt: time + 300_000,
      position: 'letters/2/4',
    },
    {
      subscriptionId: 'bills',
      path: expect.stringMatching(new RegExp(`^BILLS/2026/8/8/6/${uuid}\\.json$`)) as string,
      body: '[{"offset":5}]',
      events: 1,
      dueAt: time + 300_000,
      position: 'letters/2/5',
    },
  ])
})

test('the same dead letters are the same blob, whenever it is written', () => {
  expect(pathOf([member(4), member(7)])).toBe(pathOf([member(4), member(7)]))
})

test.each([
  ['fewer of them', [member(4)], partition],
  ['others', [member(4), member(8)], partition],
  ['another partition', [member(4), member(7)], { topic: 'letters', partition: 3 }],
  ['another topic', [member(4), member(7)], { topic: 'letters2', partition: 2 }],
  ['a topic that was made anew', [member(4), member(7, 'orders', { timestamp: 5 })], partition],
])('%s are another blob', (_, members, of) => {
  expect(pathOf(members, of)).not.toBe(pathOf([member(4), member(7)]))
})
