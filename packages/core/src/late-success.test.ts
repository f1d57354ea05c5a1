import { expect, test } from 'vitest'
import { lateSuccessValue, parseLateSuccess } from './late-success.ts'
import { progressKey } from './progress-key.ts'

const late = {
  subscriptionId: 'orders-to-billing',
  generation: 1_764_500_000_000,
  source: { topic: 'orders.eu_1', partition: 3, offset: 42 },
  redrives: 0,
  attempt: 2,
  status: 200,
  at: Date.parse('2026-03-01T12:00:00.123Z'),
}

test('A7: a late success is read as it was written', () => {
  expect(progressKey(late)).toBe('orders-to-billing/1764500000000/orders.eu_1/3/42')
  expect(parseLateSuccess(progressKey(late), lateSuccessValue(late))).toEqual(late)
})

test.each([
  '',
  'null',
  '[]',
  '"late-success"',
  '{"kind":"late-success"}',
  '{"kind":"blocked","redrives":0,"attempt":1,"status":200,"at":"2026-03-01T12:00:00.000Z"}',
  '{"kind":"late-success","redrives":0.5,"attempt":1,"status":200,"at":"2026-03-01T12:00:00.000Z"}',
  '{"kind":"late-success","redrives":0,"attempt":"1","status":200,"at":"2026-03-01T12:00:00.000Z"}',
  '{"kind":"late-success","redrives":0,"attempt":1,"status":200,"at":"soon"}',
  '{"kind":"late-success","redrives":-1,"attempt":1,"status":200,"at":"2026-03-01T12:00:00.000Z"}',
  '{"kind":"late-success","redrives":0,"attempt":0,"status":200,"at":"2026-03-01T12:00:00.000Z"}',
  '{"kind":"late-success","redrives":0,"attempt":1,"status":199,"at":"2026-03-01T12:00:00.000Z"}',
  '{"kind":"late-success","redrives":0,"attempt":1,"status":205,"at":"2026-03-01T12:00:00.000Z"}',
  '{"kind":"late-success","redrives":0,"attempt":1,"status":503,"at":"2026-03-01T12:00:00.000Z"}',
  `{"kind":"late-success","redrives":0,"attempt":1,"status":200,"at":"2026-03-01T12:00:00.000Z","more":"${'x'.repeat(2_000)}"}`,
])('a value that is none: %s', (value) => {
  expect(parseLateSuccess(progressKey(late), Buffer.from(value))).toBeNull()
})

test.each(['', 'orders', 'a/1/t/0', 'a/1/t/0/1/2', 'A/1/t/0/1', 'a/x/t/0/1', 'a/1/t t/0/1', 'a/1/t/-1/1'])(
  'a key that is none: %s',
  (key) => {
    expect(parseLateSuccess(key, lateSuccessValue(late))).toBeNull()
  },
)
