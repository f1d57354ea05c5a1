import { expect, test } from 'vitest'
import { isJson, withMembers } from './json-append.ts'

const one = Buffer.from('1')

test.each([
  ['{}', '{"new":1}'],
  [' { "a" : 1.0 } ', '{"a":1.0,"new":1}'],
  ['{"new":[{"new":2}],"a":{"new":3}}', '{"a":{"new":3},"new":1}'],
  ['{"n\\u0065w":2,"a":1,"a":2}', '{"a":1,"a":2,"new":1}'],
  ['\uFEFF{"__proto__":1}', '{"__proto__":1,"new":1}'],
])('members behind those of %s', (object, expected) => {
  expect(withMembers(Buffer.from(object), [['new', one]]).toString()).toBe(expected)
})

test('one without a value takes away what stood there', () => {
  expect(withMembers(Buffer.from('{"gone":1,"a":2}'), [['gone', undefined]]).toString()).toBe('{"a":2}')
})

test.each([
  ['1', true],
  ['"\\u0000"', true],
  ['', false],
  ['{', false],
  ['\uFEFF1', false],
])('%j is JSON: %s', (text, expected) => {
  expect(isJson(text)).toBe(expected)
})
