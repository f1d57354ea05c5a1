import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pathsOf, replaced } from '../fixtures/document-places.ts'
import { parseSubscription } from './parse-subscription.ts'
import { parseStoredSubscription } from './stored-subscription.ts'

/** Whatever somebody hands over as Event Grid's JSON: a value or named problems, never an exception. */
const samples = new URL('../samples/event-grid/', import.meta.url)
const documents = readdirSync(samples).map((file) => [file, readFileSync(new URL(file, samples), 'utf8')] as const)

const sink = 'https://example.com/'
const beside = { id: 'a', topics: ['orders'] }
const garbage: readonly unknown[] = [
  null,
  0,
  -1.5,
  '',
  'x\r\ny',
  'x'.repeat(10_000),
  true,
  [],
  {},
  [[[[]]]],
  [null],
  { properties: { properties: {} } },
  JSON.parse('{"__proto__": {"endpointType": "WebHook"}, "constructor": 1, "toString": null}'),
  nested(50),
]

function nested(depth: number): unknown {
  return JSON.parse('{"advancedFilters":['.repeat(depth) + ']}'.repeat(depth))
}

test.each(documents)('%s with the wrong type at every place', (_file, text) => {
  const document = JSON.parse(text) as unknown
  for (const path of pathsOf(document)) {
    for (const each of garbage) {
      const changed = replaced(document, path, each)
      const whole = typeof changed === 'object' && changed !== null ? { ...changed, ...beside } : changed
      const parsed = parseSubscription(whole)
      if (parsed.kind === 'valid') expect(parsed.subscription.id).toBe('a')
      else {
        expect(parsed.problems.length).toBeGreaterThan(0)
        for (const { message } of parsed.problems) expect(message.length).toBeLessThan(2_000)
      }
    }
  }
})

test.each(documents)('%s with a field more at every place: it is refused by name', (_file, text) => {
  const document = JSON.parse(text) as Readonly<Record<string, unknown>>
  const isRead = (path: readonly string[]) => path[0] !== 'responses' && path.at(-1) !== 'parameters'
  const inside = (path: readonly string[]) =>
    path.some((step) => /^(properties|filter|destination|retryPolicy)$/.test(step))
  for (const path of pathsOf(document).filter((each) => isRead(each) && inside(each) && !each.includes('identity'))) {
    let value: unknown = document
    for (const step of path) value = (value as Readonly<Record<string, unknown>>)[step]
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue
    for (const name of ['unheardOf', '__proto__', 'constructor']) {
      const more = JSON.parse(
        `{${JSON.stringify(name)}: 1, ${JSON.stringify(value).slice(1)}`.replace(/, }$/, '}'),
      ) as unknown
      const parsed = parseSubscription({ ...(replaced(document, path, more) as object), ...beside, sink })
      const messages = parsed.kind === 'invalid' ? parsed.problems.map(({ message }) => message) : []
      expect(messages.filter((message) => message.includes(`${name}: is not a`))).toHaveLength(1)
    }
  }
})

test('brackets by the thousand cost no stack', () => {
  for (const name of ['properties', 'destination', 'parameters', 'filter']) {
    const parsed = parseSubscription({ ...beside, retryPolicy: {}, [name]: nested(100_000) })
    expect(parsed.kind).toBe('invalid')
  }
})

test('ten megabytes are refused in a moment, with few words', () => {
  const filters = Array.from({ length: 100_000 }, (_, index) => {
    return { operatorType: 'StringIn', key: `data.a${index}`, values: ['x'.repeat(60)] }
  })
  const document = {
    properties: { destination: { endpointType: 'x'.repeat(1e6) }, filter: { advancedFilters: filters } },
  }
  const text = JSON.stringify(document)
  expect(text.length).toBeGreaterThan(1e7)
  const before = performance.now()
  const parsed = parseSubscription({ ...(JSON.parse(text) as object), ...beside })
  expect(performance.now() - before).toBeLessThan(5_000)
  const messages = parsed.kind === 'invalid' ? parsed.problems.map(({ message }) => message) : []
  expect(messages).toContain('properties.filter.advancedFilters: has 100000 entries, more than 10000')
  expect(messages.join('').length).toBeLessThan(2_000)
})

test('what is written into the topic by hand is read in Event Grid’s notation too', () => {
  const life = { generation: 1, revision: 1, startOffsets: {} }
  const stored = (document: object) =>
    parseStoredSubscription(Buffer.from(JSON.stringify({ ...document, ...life })), 'a')
  const destination = { endpointType: 'WebHook', properties: { endpointUrl: 'https://example.com/' } }
  const own = { ...beside, handshake: 'none', input: 'cloudevents', notation: 'barnabas' }
  const properties = { destination, eventDeliverySchema: 'CloudEventSchemaV1_0' }
  expect(stored({ ...own, properties })).toMatchObject({
    kind: 'valid',
    subscription: { id: 'a', sink: 'https://example.com/', mode: 'structured', deadLetter: null, revision: 1 },
  })
  expect(stored({ ...own, properties: { ...properties, retryPolicy: 3 } })).toMatchObject({
    kind: 'invalid',
    problems: [{ message: 'properties.retryPolicy: 3 is not a mapping of fields to values' }],
  })
})
