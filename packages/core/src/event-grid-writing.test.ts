import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { translateEventGrid } from './event-grid-notation.ts'
import { writeEventGrid } from './event-grid-writing.ts'
import { parseSubscription } from './parse-subscription.ts'
import type { WrittenSubscription } from './subscription-schema.ts'

type Json = Readonly<Record<string, unknown>>

const samples = new URL('../samples/event-grid/', import.meta.url)
const beside = { id: 'a', topics: ['orders'] }
const url = 'https://example.com/hook'

/** Writes what our own notation says, whether or not all of it is available yet, and gives document and notes. */
function write(written: Json, revision: number | null = 3) {
  const subscription = { notation: 'barnabas', schema: 'CloudEventSchemaV1_0', ...written }
  return writeEventGrid(
    {
      kind: 'valid',
      subscription: subscription as never,
      written: written as WrittenSubscription,
      warnings: [],
      origins: [],
    },
    revision,
  )
}

function translated(document: Json): Json {
  const translation = translateEventGrid(document)
  if (translation.kind === 'invalid') throw new Error(translation.problems.map(({ message }) => message).join('\n'))
  return translation.fields
}

function sampleFields(file: string, more: Json = {}): Json | null {
  const document = JSON.parse(readFileSync(new URL(file, samples), 'utf8')) as Json
  const translation = translateEventGrid({ ...document, ...beside, ...more })
  return translation.kind === 'invalid' ? null : translation.fields
}

describe('there and back', () => {
  const accepted = readdirSync(samples).filter((file) => sampleFields(file) !== null)

  test('all samples but those of other destinations', () => {
    expect(accepted).toHaveLength(readdirSync(samples).length - 2)
  })

  test.each(accepted)('%s', (file) => {
    const fields = sampleFields(file)!
    const { document, notes } = write(fields, null)
    expect(document).toMatchObject({ name: 'a', type: 'Microsoft.EventGrid/eventSubscriptions', topics: ['orders'] })
    if (file === 'rest-function-url.json') {
      expect(notes[0]).toMatch(/^endpointUrl: its query is masked/)
      expect(JSON.stringify(document)).not.toContain('<HIDDEN>')
      return
    }
    expect(translated(document)).toEqual(fields)
    // All that stands beside Event Grid's own.
    expect(Object.keys(document)).toEqual(['name', 'type', 'notation', 'topics', 'properties'])
    expect(notes).toEqual(
      fields['deadLetter'] === 'none'
        ? []
        : ["deadLetterDestination: of its resourceId only the account's name is known here"],
    )
  })

  test.each(accepted)('%s with fields of our own', (file) => {
    const more = {
      from: 'earliest',
      sink: url,
      retry: { schedule: ['1s', '10m'], neverOn: [400] },
      headers: { 'X-Key': { secret: 'KEY' }, 'x-team': 'sales' },
      deadLetter: { topic: 'mine' },
      mode: 'binary',
      concurrency: 3,
    }
    const fields = sampleFields(file, more)!
    const { document, notes } = write(fields)
    const { revision, ...rest } = document
    expect(revision).toBe(3)
    expect(translated(rest)).toEqual(fields)
    expect(notes[0]).toMatch(/^Event Grid has no word for what stands in headers, /)
  })
})

describe('a subscription of our own notation', () => {
  const least = { ...beside, sink: url }

  test('the least one keeps its meaning', () => {
    const { document, notes } = write(least)
    expect(document).toEqual({
      name: 'a',
      type: 'Microsoft.EventGrid/eventSubscriptions',
      notation: 'barnabas',
      topics: ['orders'],
      mode: 'binary',
      handshake: 'none',
      deadLetter: {},
      revision: 3,
      properties: {
        destination: { endpointType: 'WebHook', properties: { endpointUrl: url } },
        eventDeliverySchema: 'CloudEventSchemaV1_0',
      },
    })
    expect(notes).toEqual([
      'Event Grid has no word for what stands in mode, handshake, deadLetter: it stands beside `properties`, where `barnabas apply` reads it and Azure does not',
    ])
    const { revision: _revision, ...rest } = document
    expect(translated(rest)).toMatchObject({ mode: 'binary', handshake: 'none', deadLetter: {}, notation: 'barnabas' })
  })

  test.each<Json>([
    { filters: [{ exact: { type: 'a' } }] },
    { filters: [{ advanced: { operatorType: 'IsNotNull', key: 'a' } }, { subject: { beginsWith: 'a' } }] },
    {
      filters: [
        { advanced: { operatorType: 'IsNotNull', key: 'a', onArrays: true } },
        { advanced: { operatorType: 'IsNotNull', key: 'b' } },
      ],
    },
    { filters: [{ any: [{ subject: { beginsWith: 'a' } }] }] },
    { types: ['All'] },
    { retry: { schedule: 'exponential-decay', maxAttempts: 177, timeToLive: '90s' } },
    { retry: { schedule: 'event-grid-kubernetes' } },
    { batch: { maxEvents: 10, preferredSize: '1000B' } },
    { notation: 'event-grid-kubernetes' },
    { notation: 'event-grid-kubernetes', filters: [{ advanced: { operatorType: 'IsNotNull', key: 'a' } }] },
    { notation: 'event-grid-kubernetes', deadLetter: { blob: { account: 'acc', container: 'c' }, topic: 't' } },
    { notation: 'event-grid', probation: { after: 3 }, rate: '3/s', timeout: '5s', endpoint: 'azure' },
    { headers: { Authorization: 'text', 'X-All': { path: '$' }, 'X-Key': { secret: 'KEY' } } },
  ])('%j is read as it was', (change) => {
    const written: Json = { ...least, ...change }
    const { document } = write(written)
    const { revision: _revision, ...rest } = document
    const read = translated(rest)
    for (const [name, value] of Object.entries(written)) {
      if (name !== 'retry') expect(read[name]).toEqual(value)
    }
    expect(read['retry']).toEqual({ schedule: 'event-grid', ...(change['retry'] as Json) })
    expect(read['deadLetter']).toEqual(change['deadLetter'] ?? {})
    expect(read['mode']).toBe('binary')
  })

  test('1d, 1MB and the like are said in minutes and kilobytes', () => {
    const { document } = write({ ...least, retry: { timeToLive: '1d' }, batch: { preferredSize: '1MB' } })
    expect(document).not.toHaveProperty('retry')
    expect(document).not.toHaveProperty('batch')
    expect(document).toMatchObject({
      properties: {
        retryPolicy: { eventTimeToLiveInMinutes: 1_440 },
        destination: { properties: { preferredBatchSizeInKilobytes: 1_024 } },
      },
    })
  })
})

describe('secrets are masked', () => {
  test.each([
    ['https://e.com/a?code=s3cret', 'https://e.com/a?code=***'],
    ['https://e.com/a?x=1&code=s3cret==&s3cret#s', 'https://e.com/a?x=***&code=***&***#s'],
    ['https://e.com/a?', 'https://e.com/a?'],
  ])('%s', (sink, endpointUrl) => {
    const { document, notes } = write({ ...beside, sink })
    expect(document).toMatchObject({ properties: { destination: { properties: { endpointUrl } } } })
    expect(JSON.stringify([document, notes])).not.toContain('s3cret')
  })

  test('a masked URL is refused when it is applied, and the header’s secret by its name is not', () => {
    const { document } = write({ ...beside, sink: `${url}?code=1`, headers: { 'X-Key': { secret: 'KEY' } } })
    const parsed = parseSubscription({ ...document, id: 'a' })
    expect(parsed.kind === 'invalid' && parsed.problems.map(({ message }) => message)).toEqual([
      'properties.destination.properties.endpointUrl: its query was masked with *** where it was taken from; write it as it is',
    ])
    expect(document).toMatchObject({
      headers: { 'X-Key': { secret: 'KEY' } },
      properties: {
        destination: {
          properties: {
            endpointBaseUrl: url,
            deliveryAttributeMappings: [
              { name: 'X-Key', type: 'Static', properties: { value: 'Hidden', isSecret: true } },
            ],
          },
        },
      },
    })
  })
})
