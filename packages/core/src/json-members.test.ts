import { expect, test } from 'vitest'
import { jsonMembers, stringAt } from './json-members.ts'

test.each<[json: string, members: (readonly [name: string, text: string])[]]>([
  ['{}', []],
  [' { } ', []],
  ['\uFEFF{"a":1}', [['a', '1']]],
  [
    '{"":"","a":""}',
    [
      ['', '""'],
      ['a', '""'],
    ],
  ],
  [
    '{"a":1,"a":2}',
    [
      ['a', '1'],
      ['a', '2'],
    ],
  ],
  [
    '\r\n{\t"a"\n:\r-1.5e+3 ,"b" : true\t}',
    [
      ['a', '-1.5e+3'],
      ['b', 'true'],
    ],
  ],
  [
    '{"a":{"b":[{},[]],"c":"}]"},"d":null}',
    [
      ['a', '{"b":[{},[]],"c":"}]"}'],
      ['d', 'null'],
    ],
  ],
  [
    '{"\\"\\\\":"\\\\","b":"\\\\\\"","\\u0061\\n":[]}',
    [
      ['"\\', '"\\\\"'],
      ['b', '"\\\\\\""'],
      ['a\n', '[]'],
    ],
  ],
  [
    '{"grün":"\u{1F680}","__proto__":false}',
    [
      ['grün', '"\u{1F680}"'],
      ['__proto__', 'false'],
    ],
  ],
])('finds every member of %s', (text, expected) => {
  const json = Buffer.from(text)
  expect(jsonMembers(json).map(({ name, start, end }) => [name, json.toString('utf8', start, end)])).toEqual(expected)
})

test('a string stands for its text', () => {
  for (const text of ['', 'plain', '"\\/\b\f\n\r\t\0', 'ä\u{1F680}', '\\u0061']) {
    const json = Buffer.from(`  ${JSON.stringify(text)}`)
    expect(stringAt(json, 2, json.length)).toBe(text)
  }
})
