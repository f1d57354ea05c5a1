import { expect, test } from 'vitest'
import { readDeadLetter } from './dead-letter-record.ts'
import { isSelected, readSelection, selectionText, selectsAll } from './dead-letter-selection.ts'
import type { SelectionOptions } from './dead-letter-selection.ts'

const now = Date.parse('2026-12-01T12:00:00Z')
const headers = {
  ce_specversion: '1.0',
  ce_id: 'one',
  ce_source: '/s',
  ce_type: 't',
  'barnabas-subscription': 'billing',
  'barnabas-dead-letter-reason': 'TimeToLiveExceeded',
  'barnabas-dead-letter-time': '2026-12-01T10:00:00.000Z',
  'barnabas-last-outcome': 'Busy',
  'barnabas-source-topic': 'orders',
  'barnabas-source-partition': '2',
  'barnabas-source-offset': '17',
}

function letter(changes: Record<string, string> = {}) {
  const all = Object.entries({ ...headers, ...changes }).map(([name, text]) => [name, Buffer.from(text)] as const)
  const at = { topic: 'letters', partition: 0, offset: 1, timestamp: now }
  return readDeadLetter({ ...at, key: null, value: Buffer.from('{}'), headers: Object.fromEntries(all) }, () => null)!
}

test.each<[SelectionOptions, boolean]>([
  [{}, true],
  [{ subscription: 'billing' }, true],
  [{ subscription: 'other' }, false],
  [{ reason: 'TimeToLiveExceeded' }, true],
  [{ reason: 'EventMalformed' }, false],
  [{ outcome: 'Busy' }, true],
  [{ outcome: 'TimedOut' }, false],
  [{ eventId: 'one' }, true],
  [{ eventId: 'two' }, false],
  [{ source: 'orders' }, true],
  [{ source: 'orders/2' }, true],
  [{ source: 'orders/2/17' }, true],
  [{ source: 'order' }, false],
  [{ source: 'orders/1' }, false],
  [{ source: 'orders/2/16' }, false],
  [{ since: '2h' }, true],
  [{ since: '1h' }, false],
  [{ since: '2026-12-01' }, true],
  [{ since: '2026-12-01T11:00:00+01:00' }, true],
  [{ until: '2026-12-01T10:00:00Z' }, false],
  [{ until: '2026-12-01T10:00:00.001Z' }, true],
  [{ subscription: 'billing', reason: 'TimeToLiveExceeded', outcome: 'TimedOut' }, false],
])('B8: %j selects it: %s', (options, expected) => {
  expect(isSelected(letter(), readSelection(options, now))).toBe(expected)
})

test('a damaged time is in no span, but selected by everything else', () => {
  const damaged = letter({ 'barnabas-dead-letter-time': 'noon' })
  expect(isSelected(damaged, readSelection({ since: '2000-01-01' }, now))).toBe(false)
  expect(isSelected(damaged, readSelection({ subscription: 'billing' }, now))).toBe(true)
})

test('a topic alone narrows nothing within it; what was said is kept for the record', () => {
  expect(selectsAll(readSelection({ topic: 'letters' }, now))).toBe(true)
  expect(selectsAll(readSelection({ since: '2h' }, now))).toBe(false)
  expect(selectionText({ subscription: 'billing', since: '2h' })).toEqual({ since: '2h' })
})
