import { expect, test } from 'vitest'
import { oneLine, printable } from './printable.ts'

test.each([
  ['plain ü \u{1f600}', 'plain ü \u{1f600}'],
  ['\u001b[31mred\u0007', '\\u001b[31mred\\u0007'],
  ['back\rover\u0008', 'back\\u000dover\\u0008'],
  ['\u009b2J', '\\u009b2J'],
  ['abc\u202edef', 'abc\\u202edef'],
  ['two\nlines\tand a tab', 'two\nlines\tand a tab'],
])('%j is shown as %j', (text, shown) => {
  expect(printable(text)).toBe(shown)
})

test('in one line even a line break is shown', () => {
  expect(oneLine('two\nlines\tx\u0000')).toBe('two\\nlines\\tx\\u0000')
})
