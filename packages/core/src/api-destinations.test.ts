import { expect, test } from 'vitest'
import { readApiDestinations } from './api-destinations.ts'

const endpoint = 'https://billing.example.com/hook'

test('entries by their names', () => {
  const headers = { Authorization: { secret: 'BILLING_KEY' }, 'X-Team': 'billing' }
  const read = readApiDestinations({ 'billing-api': { endpoint, headers }, __: { endpoint: 'http://10.0.0.1/' } })
  if (read.kind === 'invalid') throw new Error(JSON.stringify(read.problems))
  expect([...read.destinations]).toEqual([
    ['billing-api', { endpoint, headers }],
    ['__', { endpoint: 'http://10.0.0.1/' }],
  ])
  expect(readApiDestinations({})).toMatchObject({ kind: 'destinations' })
})

test.each<[what: unknown, message: string]>([
  [null, 'destinations: null is not a mapping; write { billing-api: { endpoint'],
  [[], 'destinations: [] is not a mapping'],
  ['x', 'destinations: "x" is not a mapping'],
  [{ a: { endpoint } }, 'a: is not a name of 2 to 127 characters'],
  [{ ['a'.repeat(128)]: { endpoint } }, 'is not a name of 2 to 127 characters'],
  [{ ab: null }, 'ab: null is not a mapping of fields to values'],
  [{ ab: {} }, 'ab.endpoint: is missing'],
  [{ ab: { endpoint: 'ftp://x' } }, 'ab.endpoint: "ftp://x" is not an http(s) URL'],
  [{ ab: { endpoint: 'https://u:hunter2@x/' } }, 'ab.endpoint: user name and password may not stand in the URL'],
  [{ ab: { endpoint, headers: 7 } }, 'ab.headers: 7 is not'],
  [{ ab: { endpoint, header: {} } }, 'ab.header: is not a known field (did you mean headers?)'],
  [Object.fromEntries(Array.from({ length: 1_001 }, (_, n) => [`a${n}`, {}])), 'there are 1001, more than 1000'],
])('%j is refused', (root, message) => {
  const read = readApiDestinations(root)
  const messages = read.kind === 'invalid' ? read.problems.map((each) => each.message) : []
  expect(messages).toEqual([expect.stringContaining(message)])
  expect(messages.join()).not.toContain('hunter2')
})
