import { expect, test } from 'vitest'
import { blobAccountProblem, blobContainerProblem, blobLetterOf, blobPath } from './dead-letter-blob.ts'

const guid = '8bc07e6f-0885-8729-90e4-7c3f052bd754'

test.each([
  ['2019-08-08T05:59:59.999Z', '2019/8/8/5'],
  ['2026-12-31T23:00:00.000Z', '2026/12/31/23'],
  ['2026-01-01T00:00:00.000Z', '2026/1/1/0'],
])('A13: a blob of %s lies in the hour %s, in UTC and without leading zeros', (time, hour) => {
  expect(blobPath('orders-to-billing', Date.parse(time), guid)).toBe(`ORDERS-TO-BILLING/${hour}/${guid}.json`)
})

test.each([
  ['abc', true],
  ['a1b2', true],
  ['a'.repeat(24), true],
  ['ab', false],
  ['a'.repeat(25), false],
  ['Abc', false],
  ['a-b', false],
  ['', false],
  ['a.example.com', false],
])('%j is the name of an account: %s', (name, isName) => {
  expect(blobAccountProblem(name) === null).toBe(isName)
})

test.each([
  ['abc', true],
  ['dead-letters-1', true],
  ['a'.repeat(63), true],
  ['ab', false],
  ['a'.repeat(64), false],
  ['a--b', false],
  ['-ab', false],
  ['ab-', false],
  ['a_b', false],
  ['../up', false],
  ['$root', false],
])('%j is the name of a container: %s', (name, isName) => {
  expect(blobContainerProblem(name) === null).toBe(isName)
})

const bytes = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]))
const headers = {
  'barnabas-dead-letter-blob': 'archive/letters',
  'barnabas-subscription': 'orders',
  'barnabas-dead-letter-time': '2026-03-01T12:00:00.500Z',
}
const time = Date.parse('2026-03-01T12:00:00.500Z')

test('what decides into which blob a record goes stands in its headers', () => {
  const letter = { target: 'archive/letters', subscriptionId: 'orders', time }
  expect(blobLetterOf({ headers: bytes(headers), timestamp: 7 })).toEqual(letter)
})

test.each([
  [{}, 7],
  [{ 'barnabas-dead-letter-time': 'yesterday' }, 7],
])('without a time that can be read that of the record counts', (more, timestamp) => {
  const { 'barnabas-dead-letter-time': _, ...others } = headers
  expect(blobLetterOf({ headers: bytes({ ...others, ...more }), timestamp })?.time).toBe(timestamp)
  expect(blobLetterOf({ headers: bytes(others), timestamp: -5 })?.time).toBe(0)
  expect(blobLetterOf({ headers: bytes(others), timestamp: 2 ** 62 })?.time).toBe(
    Date.parse('9999-12-31T23:59:59.999Z'),
  )
})

test.each<readonly [string, Record<string, string>]>([
  ['no target', { 'barnabas-subscription': 'orders' }],
  ['no subscription', { 'barnabas-dead-letter-blob': 'archive/letters' }],
  ...['../../etc', 'Orders', 'a/b', '', 'a'.repeat(64)].map(
    (id) => [`the subscription ${id}`, { ...headers, 'barnabas-subscription': id }] as const,
  ),
])('a record with %s belongs into no blob', (_, given) => {
  expect(blobLetterOf({ headers: bytes(given), timestamp: 7 })).toBeNull()
})

test('nor does one whose headers are null, or there several times', () => {
  const several = { ...bytes(headers), 'barnabas-dead-letter-blob': [Buffer.from('a'), Buffer.from('b')] }
  expect(blobLetterOf({ headers: several, timestamp: 7 })).toBeNull()
  expect(blobLetterOf({ headers: { ...bytes(headers), 'barnabas-subscription': null }, timestamp: 7 })).toBeNull()
})
