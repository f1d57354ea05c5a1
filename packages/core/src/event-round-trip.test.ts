import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { binaryData } from './event-data.ts'
import { structuredJson } from './event-to-structured.ts'
import { decodeEvent, type CloudEvent } from './event.ts'
import type { HeaderValue } from './record.ts'

const bytes = (text: string) => Buffer.from(text, 'utf8')

/** Well-formed text of any kind, control characters and astral planes included. */
const text = fc.string({ unit: 'binary' })
const nonEmptyText = fc.string({ unit: 'binary', minLength: 1 })
const extensionName = fc
  .stringMatching(/^[a-z][a-z0-9]{0,12}$/)
  .filter((name) => !['data', 'datacontenttype', 'specversion'].includes(name))
const contentType = fc.constantFrom(
  'application/json',
  'application/x+json; charset=utf-8',
  'text/plain',
  'text/plain; charset=utf-16',
  'image/png',
  null,
)

const whiteSpace = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
const literal = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '9007199254740993', '-0', '1.0', '1e400', '-1.50E-7', '"\\u0000\\ud800"'),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  text.map((value) => JSON.stringify(value)),
)
/** JSON texts that a parse and a write would change: numbers, duplicate keys, white space, escapes. */
const { jsonText } = fc.letrec<{ jsonText: string; member: string }>((tie) => ({
  jsonText: fc.oneof(
    { maxDepth: 4 },
    literal,
    fc
      .tuple(fc.array(tie('jsonText'), { maxLength: 4 }), whiteSpace)
      .map(([items, ws]) => `[${ws}${items.join(`,${ws}`)}]`),
    fc
      .tuple(fc.array(tie('member'), { maxLength: 4 }), whiteSpace)
      .map(([items, ws]) => `{${items.join(`${ws},`)}${ws}}`),
  ),
  member: fc
    .tuple(
      fc.oneof(
        fc.constantFrom('"a"', '"\\u0061"', '"__proto__"', '"data"'),
        text.map((key) => JSON.stringify(key)),
      ),
      whiteSpace,
      tie('jsonText'),
    )
    .map(([key, ws, value]) => `${key}${ws}:${ws}${value}`),
}))

function decoded(record: Parameters<typeof decodeEvent>[0]): CloudEvent {
  const result = decodeEvent(record)
  if (result.kind === 'malformed') throw new Error(result.message)
  return result.event
}

describe('an event keeps its attributes and data', () => {
  const attributes = fc.record({
    id: nonEmptyText,
    source: nonEmptyText,
    type: nonEmptyText,
    extensions: fc.dictionary(extensionName, text),
  })
  const data = fc.oneof(
    fc.uint8Array().map((value) => Buffer.from(value)),
    jsonText.map(bytes),
    text.map(bytes),
    fc.constant(null),
  )

  test('from binary to structured and back', () => {
    fc.assert(
      fc.property(attributes, contentType, data, ({ id, source, type, extensions }, typeOfData, value) => {
        const named = { ...extensions, specversion: '1.0', id, source, type }
        const headers: Record<string, HeaderValue> = {}
        for (const [name, attribute] of Object.entries(named)) headers[`ce_${name}`] = bytes(attribute)
        if (typeOfData !== null) headers['content-type'] = bytes(typeOfData)
        const binary = decoded({ headers, value })
        expect(binaryData(binary).body).toBe(value)

        const back = decoded({ headers: {}, value: structuredJson(binary) })
        expect(back.mode).toBe('structured')
        expect(Object.fromEntries(back.attributes)).toEqual(Object.fromEntries(binary.attributes))
        // White space around JSON belongs to no value: no JSON format can keep it.
        const isJson = typeOfData === null || typeOfData.includes('json')
        const expected = isJson && value !== null ? withoutOuterWhiteSpace(value) : value
        expect(binaryData(back).body ?? null).toEqual(expected?.length === 0 ? null : expected)
      }),
      { numRuns: 500 },
    )
  })

  test('from structured to binary, whatever JSON text its data is and wherever it stands', () => {
    fc.assert(
      fc.property(jsonText, whiteSpace, fc.nat(4), (dataText, ws, place) => {
        const members = ['"specversion":"1.0"', '"id":"1"', '"source":"/s"', '"type":"t"'].map((member) => ws + member)
        members.splice(place, 0, `"data"${ws}:${ws}${dataText}${ws}`)
        const event = decoded({ headers: {}, value: bytes(`${ws}{${members.join(',')}}`) })
        expect(binaryData(event).body?.toString('utf8')).toBe(dataText)
      }),
      { numRuns: 500 },
    )
  })
})

describe('no record makes the codec throw', () => {
  const headerName = fc.oneof(
    fc.constantFrom('ce_specversion', 'ce_id', 'ce_source', 'ce_type', 'ce_time', 'ce_data', 'content-type'),
    fc.constantFrom('Content-Type', 'ce_', 'ce_ID', 'ce___proto__', '__proto__', 'constructor'),
    text,
  )
  const headerBytes = fc.oneof(
    fc.constantFrom('1.0', '1', 'application/cloudevents+json', 'text/plain').map(bytes),
    fc.uint8Array().map((value) => Buffer.from(value)),
    fc.constant(null),
  )
  const headers = fc.dictionary(headerName, fc.oneof(headerBytes, fc.array(headerBytes, { maxLength: 3 })))
  const event = bytes('{"specversion":"1.0","id":"1","source":"/s","type":"t","n":1.0,"data":{"a":["\\u0000"]}}')
  const damaged = fc.array(fc.tuple(fc.nat(event.length - 1), fc.nat(255)), { maxLength: 3 }).map((damages) => {
    const copy = Buffer.from(event)
    for (const [place, byte] of damages) copy[place] = byte
    return copy
  })
  const value = fc.oneof(
    damaged,
    fc.uint8Array().map((garbage) => Buffer.from(garbage)),
    jsonText.map(bytes),
    fc.constant(null),
  )

  test('and what it takes for an event can be sent in both modes', () => {
    const seen = { event: 0, malformed: 0 }
    fc.assert(
      fc.property(headers, value, (givenHeaders, givenValue) => {
        const result = decodeEvent({ headers: givenHeaders, value: givenValue })
        seen[result.kind] += 1
        if (result.kind === 'malformed') {
          expect(result.message).toMatch(/^\P{Cc}{1,600}$/u)
          return
        }
        binaryData(result.event)
        const again = decodeEvent({ headers: {}, value: structuredJson(result.event) })
        expect(again.kind === 'event' && again.event.attributes).toEqual(result.event.attributes)
      }),
      { numRuns: 2000 },
    )
    // Otherwise the property would say nothing about one of the two.
    expect(Math.min(seen.event, seen.malformed)).toBeGreaterThan(50)
  })
})

function withoutOuterWhiteSpace(value: Buffer): Buffer {
  try {
    const decodedText = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value)
    JSON.parse(decodedText)
    return bytes(decodedText.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, ''))
  } catch {
    return value
  }
}
