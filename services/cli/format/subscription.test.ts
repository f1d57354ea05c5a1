import { nextStatus, parseStoredSubscription, parseSubscription } from '@barnabas/core'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import type { ShownSubscription } from './subscription.ts'
import { statusWord, subscriptionJson, subscriptionTable, subscriptionYaml } from './subscription.ts'

const now = Date.parse('2026-01-01T00:05:00Z')
const record = {
  id: 'a',
  topics: ['x', 'y'],
  sink: 'https://example.com/hook/averylongsecretpathsegment?token=secret',
  retry: { schedule: ['1s', '10s'] },
  generation: Date.parse('2026-01-01T00:00:00Z'),
  revision: 3,
  startOffsets: { x: { '0': 5 } },
}

function shown(value: unknown, revisionOfStatus?: number): ShownSubscription {
  const stored = parseStoredSubscription(Buffer.from(JSON.stringify(value)), 'a')
  if (stored.kind === 'absent') throw new Error('a deletion')
  const status =
    revisionOfStatus === undefined
      ? null
      : nextStatus('a', null, {
          status: 'Running',
          reason: 'all is well',
          generation: record.generation,
          revision: revisionOfStatus,
          now,
        })
  return { id: 'a', stored, status }
}

test('the table shows no secret of the sink', () => {
  expect(subscriptionTable([shown(record, 3)], now).split('\n')[1]).toBe(
    'a   Running  x,y     https://example.com/hook/aver…  [1s, 10s]  5m   3',
  )
})

test('the table names notations where one is not ours', () => {
  const foreign = shown({ ...record, notation: 'event-grid-kubernetes' }, 3)
  const lines = subscriptionTable([shown(record, 3), foreign], now).split('\n')
  expect(lines[0]).toMatch(/^ID +STATUS +TOPICS +SINK +SCHEDULE +NOTATION +AGE +REVISION$/)
  expect(lines[1]).toMatch(/ barnabas +5m +3$/)
  expect(lines[2]).toMatch(/ event-grid-kubernetes +5m +3$/)
})

test('YAML is what was written and its revision, and apply takes it again', () => {
  const text = subscriptionYaml(shown(record, 3))
  expect(parse(text)).toEqual({
    id: 'a',
    topics: ['x', 'y'],
    sink: record.sink,
    retry: { schedule: ['1s', '10s'] },
    revision: 3,
  })
  expect(parseSubscription(parse(text))).toMatchObject({ kind: 'valid', expected: { revision: 3 } })
})

test('YAML with what a terminal must not see means the same all the same', () => {
  const types = ['a\u009b2J', 'b\u202ec', '\u0007', 'd\ne']
  const text = subscriptionYaml(shown({ ...record, types }, 3))
  expect(text).not.toMatch(/[\u009b\u202e]/)
  expect(parse(text)).toMatchObject({ id: 'a', types, revision: 3 })
})

test('JSON is what is stored, with the status beside it', () => {
  expect(subscriptionJson(shown(record, 3))).toMatchObject({ ...record, status: { status: 'Running', revision: 3 } })
  expect(subscriptionJson(shown(record))).toEqual({ ...record, status: null })
})

test('what does not validate is shown with its problems', () => {
  const invalid = shown({ ...record, sink: 'ftp://x' })
  expect(subscriptionTable([invalid], now).split('\n')[1]).toBe('a   Invalid  -       -     -         5m   3')
  expect(subscriptionJson(invalid)).toMatchObject({
    id: 'a',
    revision: 3,
    problems: [expect.stringMatching(/^sink: /)],
  })
  expect(parse(subscriptionYaml(invalid))).toBeNull()
})

test.each([
  ['of this revision', record, 3, 'Running'],
  ['of the revision before', record, 2, 'Running (revision 2)'],
  ['of a former life', { ...record, generation: record.generation + 1 }, 3, 'Unknown'],
  ['of none', record, undefined, 'Unknown'],
  ['of nothing valid', { id: 'a' }, undefined, 'Invalid'],
])('a status %s', (_name, value, revision, word) => {
  const { stored, status } = shown(value, revision)
  expect(statusWord(stored, status)).toBe(word)
})
