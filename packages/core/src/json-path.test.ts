import { expect, test } from 'vitest'
import { jsonAt, parseJsonPath, scalarText } from './json-path.ts'

test.each([
  ['$.data', ['data']],
  ['$.data.a.b', ['data', 'a', 'b']],
  ['data.key1', ['data', 'key1']],
  ["$['e-mail']", ['e-mail']],
  ['$["a.b"].c', ['a.b', 'c']],
  ["$.list[0]['x'][12]", ['list', 0, 'x', 12]],
  ['$.größe', ['größe']],
  ["$['']", ['']],
])('%s leads somewhere', (text, path) => {
  expect(parseJsonPath(text)).toEqual(path)
})

test.each([
  '',
  '$',
  '.',
  '$.',
  '$..a',
  '.a',
  '$a',
  'a.',
  'a..b',
  '$.a b',
  '$.*',
  '$.a[*]',
  '$.a[-1]',
  '$.a[?(@.b)]',
  '$.a[(@.length-1)]',
  "$['a",
  '$.a[0',
  '$.a\n',
  `$${'.a'.repeat(33)}`,
  `$.${'a'.repeat(1_024)}`,
])('%j is no path to one value', (text) => {
  const parsed = parseJsonPath(text)
  // `*` is a name like any other and leads nowhere.
  expect(text === '$.*' ? parsed?.length : parsed).toBe(text === '$.*' ? 1 : null)
})

const document = Buffer.from(
  '{ "n": 1.0, "big": 9007199254740993, "s": "a\\n\\u20ac", "t": true, "no": null, "twice": 1, "twice": 2,' +
    ' "list": [ 1 , [ "x" ], {"k": "}]"}, "," ], "o": {"p": {"q": "deep"}}, "empty": [], "half": "\\ud800" }',
)

test.each([
  ['n', '1.0'],
  ['big', '9007199254740993'],
  ['s', 'a\n€'],
  ['t', 'true'],
  ['no', null],
  ['twice', '2'],
  ['list', null],
  ['list[0]', '1'],
  ['list[1][0]', 'x'],
  ['list[2].k', '}]'],
  ['list[3]', ','],
  ['list[4]', null],
  ['list.k', null],
  ['empty[0]', null],
  ['o.p.q', 'deep'],
  ['o.p', null],
  ['o.p.q.r', null],
  ['n[0]', null],
  ['half', null],
  ['absent', null],
])('%s is %j, as it is written', (text, value) => {
  const found = jsonAt(document, parseJsonPath(text)!)
  expect(found === null ? null : scalarText(found)).toBe(value)
})
