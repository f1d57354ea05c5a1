import { expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'

const least = { id: 'orders-to-billing', topics: ['orders'], sink: 'https://billing.example.com/hook' }

function messages(headers: unknown): string[] {
  const parsed = parseSubscription({ ...least, headers })
  return parsed.kind === 'valid' ? [] : parsed.problems.map(({ message }) => message)
}

const ten = Object.fromEntries(Array.from({ length: 10 }, (_each, index) => [`X-${index}`, 'x']))

test('A20: static, secret and dynamic headers', () => {
  const headers = { 'X-Team': 'billing', 'X-Key': { secret: 'BILLING_KEY' }, 'X-N': { path: '$.data.n[0]' } }
  const parsed = parseSubscription({ ...least, headers })
  expect(parsed).toMatchObject({
    kind: 'valid',
    warnings: [],
    written: { headers },
    subscription: {
      headers: [
        { kind: 'static', name: 'X-Team', value: 'billing' },
        { kind: 'secret', name: 'X-Key', secret: 'BILLING_KEY' },
        { kind: 'dynamic', name: 'X-N', path: ['data', 'n', 0] },
      ],
    },
  })
})

test('A20: ten headers and 4,096 bytes are the most', () => {
  expect(messages({ ...ten, 'X-0': 'x'.repeat(4_096) })).toEqual([])
  expect(messages({ ...ten, 'X-10': 'x' })).toEqual(['headers: has 11 headers, more than 10'])
  expect(messages({ 'X-0': 'x'.repeat(4_097) })).toEqual(['headers.X-0: has 4097 bytes, more than 4096'].map(bracketed))
  expect(messages({ [`X-${'a'.repeat(254)}`]: 'x' })).toEqual([])
  expect(messages({ [`X-${'a'.repeat(255)}`]: 'x' })[0]).toContain('has 257 characters, more than 256')
})

test.each([
  'aeg-event-type',
  'AEG-anything',
  'ce-id',
  'Barnabas-Attempt',
  'WebHook-Request-Origin',
  'Proxy-Authorization',
  'Content-Type',
  'content-length',
  'Content-Encoding',
  'Host',
  'Connection',
  'Keep-Alive',
  'Transfer-Encoding',
  'TE',
  'Trailer',
  'Upgrade',
  'Expect',
  'Origin',
  'User-Agent',
])('A20: %s is reserved', (name) => {
  expect(messages({ [name]: 'x' })).toEqual([expect.stringContaining('is reserved')])
})

test.each(['', 'X Team', 'X-Team:', 'X-Tëam', 'X-Team\r\nX-Injected', 'X\u0000', '(x)'])(
  'A20: %j is no name',
  (name) => {
    expect(messages({ [name]: 'x' })).toEqual([expect.stringContaining('is not the name of a header')])
  },
)

test.each([
  ['a\r\nX-Injected: 1', 'holds a line break'],
  ['a\u0000', 'holds a line break, a control character'],
  ['Größe', 'one beyond ASCII'],
  ['', 'is empty'],
  [7, '7 is not text; put it in quotes: "7"'],
  [null, 'is neither text nor { secret: NAME } nor { path: $.data.x }'],
  [['a'], 'is neither text nor'],
  [{}, 'is neither text nor'],
  [{ secret: 'A', path: '$.b' }, 'is neither text nor'],
  [{ value: 'a' }, 'is neither text nor'],
  [{ secret: 'billing' }, 'the name of a secret is upper-case letters'],
  [{ secret: '../../etc/passwd' }, 'the name of a secret is upper-case letters'],
  [{ secret: 'A_FILE' }, 'does not end in _FILE'],
  [{ secret: 'A'.repeat(65) }, 'the name of a secret is upper-case letters'],
  [{ secret: 7 }, 'the name of a secret is upper-case letters'],
  [{ path: '$.a[?(@.x)]' }, 'is not a path'],
  [{ path: 7 }, '7 is not a path'],
])('A20: the value %j is refused', (value, message) => {
  expect(messages({ 'X-Team': value })).toEqual([expect.stringContaining(message)])
})

test('A20: case does not count in names', () => {
  expect(messages({ 'X-Team': 'a', 'x-team': 'b' })).toEqual([expect.stringContaining('is "X-Team" again')])
})

test.each(['a', ['X-Team'], null])('%j is no mapping', (headers) => {
  expect(messages(headers)).toEqual([expect.stringContaining('is not a mapping')])
})

test.each(['Authorization', 'X-Api-Key', 'X-Token', 'client-secret', 'Cookie', 'X-Signature'])(
  'A20: literal text under %s is warned about, and not shown',
  (name) => {
    const parsed = parseSubscription({ ...least, headers: { [name]: 'hunter2' } })
    expect(parsed).toMatchObject({ kind: 'valid', warnings: [expect.stringContaining('write { secret: NAME }')] })
    expect(JSON.stringify(parsed.kind === 'valid' ? parsed.warnings : '')).not.toContain('hunter2')
    expect(parseSubscription({ ...least, headers: { [name]: { secret: 'NAME' } } })).toMatchObject({ warnings: [] })
  },
)

test('what a message says of a value that looks like a secret leaves it out', () => {
  for (const value of ['hunter2\n', { secret: 'hunter2' }, { hunter2: 1 }]) {
    expect(JSON.stringify(messages({ 'X-Key': value }))).not.toContain('hunter2')
  }
})

function bracketed(message: string): string {
  return message.replace(/^headers\.([\w-]+):/, (_whole, name: string) => `headers["${name}"]:`)
}
