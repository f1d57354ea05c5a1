import { expect, test } from 'vitest'
import { quoted } from './event-attributes.ts'

test.each([
  ['2.0', '"2.0"'],
  ['a "b"\n', String.raw`"a \"b\"\n"`],
  ['\u007f\u0085\u2028\u2029', String.raw`"\u007f\u0085\u2028\u2029"`],
  ['a'.repeat(81), `"${'a'.repeat(80)}…"`],
])('a quoted value stays on one line: %j', (value, expected) => {
  expect(quoted(value)).toBe(expected)
})
