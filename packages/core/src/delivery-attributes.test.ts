import fc from 'fast-check'
import { expect, test } from 'vitest'
import { headerValueOf, headerValueProblem, textAt } from './delivery-attributes.ts'
import { decodeInput } from './decode-input.ts'
import type { InputSchema } from './decode-input.ts'
import type { CloudEvent } from './event.ts'
import { parseJsonPath } from './json-path.ts'

test.each([
  ['a', null],
  ['a b', null],
  ['x'.repeat(4_096), null],
  ['x'.repeat(4_097), 'has 4097 bytes, more than 4096'],
  ['', 'is empty'],
  ['a\r\nX-Injected: 1', 'holds a line break, a control character or one beyond ASCII'],
  ['a\u0000', 'holds a line break, a control character or one beyond ASCII'],
  ['€', 'holds a line break, a control character or one beyond ASCII'],
  ['é', 'holds a line break, a control character or one beyond ASCII'],
  [' a', 'begins or ends with a space, which HTTP does not carry'],
  ['a ', 'begins or ends with a space, which HTTP does not carry'],
])('A20: %.20j as a written value: %s', (value, problem) => {
  expect(headerValueProblem(value)).toBe(problem)
})

test.each([
  ['plain text', 'plain text'],
  ['50%', '50%25'],
  ['a\r\nX-Injected: 1', 'a%0D%0AX-Injected: 1'],
  ['Größe 👋', 'Gr%C3%B6%C3%9Fe %F0%9F%91%8B'],
  [' padded ', '%20padded%20'],
  ['', null],
  ['x'.repeat(4_096), 'x'.repeat(4_096)],
  ['x'.repeat(4_097), null],
  ['€'.repeat(455), '%E2%82%AC'.repeat(455)],
  ['€'.repeat(456), null],
])('A20: %.20j from an event travels as %.40j', (text, value) => {
  expect(headerValueOf(text)).toBe(value)
})

test('A20: whatever stands in an event, its header is one line that can be read back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const value = headerValueOf(text)
      if (value === null) return
      expect(headerValueProblem(value)).toBeNull()
      expect(decodeURIComponent(value)).toBe(text)
    }),
  )
})

const source = { topic: 'orders', partition: 0, offset: 1 }
const cloudevents: InputSchema = { input: 'cloudevents', inputSchemaMapping: {} }

function eventOf(schema: InputSchema, value: string | null, headers: Record<string, string> = {}): CloudEvent {
  const bytes = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)]))
  const record = { value: value === null ? null : Buffer.from(value), headers: bytes }
  const decoded = decodeInput(schema, record, source, 0)
  if (decoded.kind === 'malformed') throw new Error(decoded.message)
  return decoded.event
}

const at = (event: CloudEvent, path: string) => textAt(event, parseJsonPath(path)!)
const ce = { ce_specversion: '1.0', ce_id: '1', ce_source: '/s', ce_type: 't', ce_region: 'eu' }
const document = ' {"n": 1.0, "o": {"list": ["a", "b"]}, "none": null} '

test.each([
  ['binary', eventOf(cloudevents, document, { ...ce, 'content-type': 'application/json' })],
  ['binary without a content type', eventOf(cloudevents, `\uFEFF${document}`, ce)],
  [
    'structured',
    eventOf(cloudevents, `{"specversion":"1.0","id":"1","source":"/s","type":"t","region":"eu","data":${document}}`),
  ],
])('A20: a path into a CloudEvent in %s mode', (_mode, event) => {
  expect(at(event, '$.data.n')).toBe('1.0')
  expect(at(event, '$.data.o.list[1]')).toBe('b')
  expect(at(event, '$.region')).toBe('eu')
  expect(at(event, '$.type')).toBe('t')
  for (const absent of ['$.data', '$.data.none', '$.data.o', '$.data.absent', '$.absent', '$.type.x', '$.n']) {
    expect(at(event, absent), absent).toBeNull()
  }
})

test('A20: data that is no JSON holds nothing', () => {
  expect(at(eventOf(cloudevents, null, ce), '$.data.n')).toBeNull()
  expect(at(eventOf(cloudevents, '{"n":', ce), '$.data.n')).toBeNull()
  expect(at(eventOf(cloudevents, '{"n":1}', { ...ce, 'content-type': 'text/plain' }), '$.data.n')).toBeNull()
})

test('A20: a path into an event of another schema goes by the names of that schema', () => {
  const eventGrid = eventOf(
    { input: 'event-grid', inputSchemaMapping: {} },
    '{"id":"1","eventType":"t","subject":"s","eventTime":"2026-01-01T00:00:00Z","data":{"n":1.0}}',
  )
  expect(at(eventGrid, '$.data.n')).toBe('1.0')
  expect(at(eventGrid, '$.eventType')).toBe('t')
  expect(at(eventGrid, '$.topic')).toBe('orders')
  expect(at(eventGrid, '$.type')).toBeNull()
  const custom = eventOf({ input: 'custom', inputSchemaMapping: {} }, '{"n":{"m":false}}')
  expect(at(custom, '$.n.m')).toBe('false')
  expect(at(custom, '$.data.n.m')).toBeNull()
})
