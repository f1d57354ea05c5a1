import { expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'
import { deliverySchemas, eventInputs } from './schemas.ts'

const least = { id: 'orders-to-billing', topics: ['orders'], sink: 'https://billing.example.com/hook' }

function messages(fields: Readonly<Record<string, unknown>>): string[] {
  const parsed = parseSubscription({ ...least, ...fields })
  return parsed.kind === 'valid' ? [] : parsed.problems.map(({ message }) => message)
}

function resolved(fields: Readonly<Record<string, unknown>>) {
  const parsed = parseSubscription({ ...least, ...fields })
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems))
  return parsed
}

const matrix = {
  cloudevents: { CloudEventSchemaV1_0: true, EventGridSchema: false, CustomInputSchema: false },
  'event-grid': { CloudEventSchemaV1_0: true, EventGridSchema: true, CustomInputSchema: false },
  custom: { CloudEventSchemaV1_0: true, EventGridSchema: true, CustomInputSchema: true },
  'kafka-record': { CloudEventSchemaV1_0: true, EventGridSchema: false, CustomInputSchema: false },
}
const cells = eventInputs.flatMap((input) =>
  deliverySchemas.map((schema) => [input, schema, matrix[input][schema]] as const),
)

test.each(cells)('A15: %s as %s: %s', (input, schema, isAllowed) => {
  const found = messages({ input, schema })
  if (isAllowed) return expect(found).toEqual([])
  expect(found).toEqual([
    expect.stringMatching(
      schema === 'CustomInputSchema'
        ? /^schema: only a custom document can be delivered as one; with input: .* choose one of CloudEventSchemaV1_0/
        : /^schema: (CloudEvents have no form in Event Grid's schema.*|a Kafka record is .*); .*only CloudEventSchemaV1_0$/,
    ),
  ])
})

test.each(['EventGridSchema', 'CustomInputSchema'])('A15: %s is structured, and binary mode is refused', (schema) => {
  expect(resolved({ input: 'custom', schema }).subscription.mode).toBe('structured')
  expect(messages({ input: 'custom', schema, mode: 'binary' })).toEqual([
    `mode: only CloudEvents have a binary mode; with schema: ${schema} leave it out`,
  ])
})

test('CloudEvents are binary unless something else is written', () => {
  expect(resolved({}).subscription).toMatchObject({ input: 'cloudevents', inputSchemaMapping: {}, mode: 'binary' })
  expect(resolved({ input: 'event-grid' }).subscription.mode).toBe('binary')
})

const mapping = {
  id: { sourceField: 'key' },
  eventType: { sourceField: 'kind', defaultValue: 'made' },
  subject: { defaultValue: '' },
}

test("A15: a mapping, also as Event Grid's own JSON wraps it", () => {
  expect(resolved({ input: 'custom', inputSchemaMapping: mapping }).subscription.inputSchemaMapping).toEqual(mapping)
  const wrapped = {
    inputSchemaMappingType: 'Json',
    properties: { ...mapping, subject: { sourceField: null, defaultValue: '' } },
  }
  const read = resolved({ input: 'custom', inputSchemaMapping: wrapped })
  expect(read.subscription.inputSchemaMapping).toEqual(mapping)
  expect(read.written.inputSchemaMapping).toEqual(mapping)
})

test.each([
  [[], 'inputSchemaMapping: [] is not a mapping'],
  [{ name: {} }, 'inputSchemaMapping.name: is not a field of an event'],
  [{ eventtype: {} }, 'did you mean eventType?'],
  [{ id: 'key' }, 'inputSchemaMapping.id: "key" is not a mapping; write { sourceField: key }'],
  [{ id: {} }, 'inputSchemaMapping.id: is empty'],
  [{ id: { defaultValue: 'x' } }, 'inputSchemaMapping.id.defaultValue: is not known here; sourceField'],
  [{ eventType: { sourceField: '' } }, 'inputSchemaMapping.eventType.sourceField: is empty'],
  [{ eventType: { defaultValue: '' } }, 'inputSchemaMapping.eventType.defaultValue: is empty'],
  [{ subject: { sourceField: 7 } }, 'inputSchemaMapping.subject.sourceField: 7 is not text'],
  [{ subject: { sourceField: 'x'.repeat(1_025) } }, 'has 1025 characters, more than 1024'],
  [{ inputSchemaMappingType: 'Xml', properties: {} }, 'inputSchemaMapping.inputSchemaMappingType: "Xml" is not known'],
  [{ properties: {}, id: {} }, 'inputSchemaMapping.id: stands beside properties'],
])('the mapping %j is refused', (inputSchemaMapping, message) => {
  expect(messages({ input: 'custom', inputSchemaMapping })).toEqual([expect.stringContaining(message)])
})

test('a mapping without custom documents is refused', () => {
  expect(messages({ inputSchemaMapping: mapping })).toEqual([
    'inputSchemaMapping: says how to read input: custom, not cloudevents; leave one of them out',
  ])
})

test('a mapping that says nothing of the type is warned about where the type is seen', () => {
  const warning = 'inputSchemaMapping: says nothing of eventType, so every event has the type Custom'
  expect(resolved({ input: 'custom' }).warnings).toEqual([warning])
  expect(resolved({ input: 'custom', schema: 'CustomInputSchema' }).warnings).toEqual([])
  expect(resolved({ input: 'custom', inputSchemaMapping: mapping }).warnings).toEqual([])
})
