import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeRetryHeaders, deliveryHeaders, retryHeaders, rfc3339, withoutOwnHeaders } from './delivery-headers.ts'
import type { DeliveryHeader } from './delivery-headers.ts'
import type { DeliveryState } from './delivery-state.ts'
import { outcomes } from './outcome.ts'
import type { HeaderValue, RecordHeaders } from './record.ts'

type Headers = Record<string, HeaderValue | readonly HeaderValue[]>

const earliest = Date.parse('0000-01-01T00:00:00.000Z')
const latest = Date.parse('9999-12-31T23:59:59.999Z')

const fullState: DeliveryState = {
  subscriptionId: 'orders-to-billing',
  generation: 1_772_366_400_000,
  source: { topic: 'orders', partition: 3, offset: 4_200_000_001 },
  publishTime: Date.parse('2026-03-01T12:00:00.000Z'),
  attempts: 3,
  firstAttemptTime: Date.parse('2026-03-01T12:00:00.015Z'),
  lastAttemptTime: Date.parse('2026-03-01T12:00:40.120Z'),
  expiryTime: Date.parse('2026-03-02T12:00:00.015Z'),
  lastOutcome: 'Busy',
  lastStatus: 503,
  lastError: 'the answer was 503 – “später”',
  skips: 4,
  redrives: 1,
  hops: 4,
}
const dueAt = Date.parse('2026-03-01T12:01:40.500Z')

function text(headers: RecordHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

test('the headers of a retry record, as the reference names them', () => {
  expect(text(retryHeaders({}, fullState, dueAt))).toEqual({
    'barnabas-subscription': 'orders-to-billing',
    'barnabas-subscription-generation': '1772366400000',
    'barnabas-attempts': '3',
    'barnabas-publish-time': '2026-03-01T12:00:00.000Z',
    'barnabas-first-attempt-time': '2026-03-01T12:00:00.015Z',
    'barnabas-last-attempt-time': '2026-03-01T12:00:40.120Z',
    'barnabas-expiry-time': '2026-03-02T12:00:00.015Z',
    'barnabas-due-time': '2026-03-01T12:01:40.500Z',
    'barnabas-last-outcome': 'Busy',
    'barnabas-last-status': '503',
    'barnabas-last-error': 'the answer was 503 – “später”',
    'barnabas-source-topic': 'orders',
    'barnabas-source-partition': '3',
    'barnabas-source-offset': '4200000001',
    'barnabas-skips': '4',
    'barnabas-redrives': '1',
    'barnabas-hops': '4',
  })
})

test('what is not known is absent, and exactly what must be there is there', () => {
  const parked: DeliveryState = {
    ...fullState,
    attempts: 0,
    firstAttemptTime: null,
    lastAttemptTime: null,
    expiryTime: null,
    lastOutcome: null,
    lastStatus: null,
    lastError: null,
    skips: 0,
    redrives: 0,
  }
  const headers = retryHeaders({}, parked, dueAt)
  const required = Object.entries(deliveryHeaders).filter(([, use]) => use.retry === 'required')
  expect(Object.keys(headers).toSorted()).toEqual(required.map(([name]) => name).toSorted())
  expect(decodeRetryHeaders(headers)).toEqual({ kind: 'state', state: parked, dueAt })
})

const count = fc.maxSafeNat()
const time = fc.oneof(fc.integer({ min: earliest, max: latest }), fc.constantFrom(0, -1, 1, earliest, latest))
const line = fc.string({ unit: 'binary', minLength: 1 })
const orNull = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: null })
const states: fc.Arbitrary<DeliveryState> = fc.record({
  subscriptionId: line,
  generation: count,
  source: fc.record({ topic: line, partition: fc.nat(), offset: count }),
  publishTime: time,
  attempts: count,
  firstAttemptTime: orNull(time),
  lastAttemptTime: orNull(time),
  expiryTime: orNull(time),
  lastOutcome: orNull(fc.constantFrom(...outcomes)),
  lastStatus: orNull(fc.integer({ min: 0, max: 999 })),
  lastError: orNull(line),
  skips: count,
  redrives: count,
  hops: count,
})

const bytes = fc.uint8Array({ maxLength: 12 }).map((array) => Buffer.from(array))
const headerValue: fc.Arbitrary<HeaderValue> = orNull(bytes)
const foreignName = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'toString', 'hasOwnProperty', '', '0', '42', 'ce_id', 'content-type'),
  fc.constantFrom('Barnabas-Attempts', 'barnabas', ' barnabas-attempts', 'ce_deadletterreason', 'ce_publishtime'),
  fc.string({ unit: 'binary' }),
)
const ownName = fc.oneof(
  fc.constantFrom(...(Object.keys(deliveryHeaders) as DeliveryHeader[])),
  fc.constantFrom('barnabas-', 'barnabas-malformed-attempts', 'barnabas-skips'),
)

function headersNamed(names: fc.Arbitrary<string>): fc.Arbitrary<RecordHeaders> {
  const value = fc.oneof(headerValue, fc.array(headerValue, { minLength: 1, maxLength: 3 }))
  return fc.array(fc.tuple(names, value), { maxLength: 6 }).map((entries) => {
    const headers: Headers = Object.create(null)
    for (const [name, of] of entries) headers[name] = of
    return headers
  })
}

test('a state comes back from its headers as it was, whatever the event carries', () => {
  fc.assert(
    fc.property(states, time, headersNamed(foreignName), headersNamed(ownName), (state, due, foreign, own) => {
      const original = Object.assign(Object.create(null) as Headers, own, foreign)
      expect(decodeRetryHeaders(retryHeaders(original, state, due))).toEqual({ kind: 'state', state, dueAt: due })
    }),
  )
})

test('the headers of the event stay byte for byte; those that are ours are replaced, never doubled', () => {
  const known = Object.keys(deliveryHeaders)
  fc.assert(
    fc.property(states, time, headersNamed(foreignName), headersNamed(ownName), (state, due, foreign, own) => {
      const original = Object.assign(Object.create(null) as Headers, own, foreign)
      const written = retryHeaders(original, state, due)
      const entries = Object.entries(written)
      const rest = entries.filter(([name]) => !name.startsWith('barnabas-'))
      const expected = Object.entries(foreign).filter(([name]) => !name.startsWith('barnabas-'))
      expect(new Map(rest)).toEqual(new Map(expected))
      for (const [name, value] of entries) {
        if (!name.startsWith('barnabas-')) continue
        expect(known).toContain(name)
        expect(Buffer.isBuffer(value)).toBe(true)
      }
    }),
  )
})

test('a header may be called anything', () => {
  const original: Headers = Object.create(null)
  original['__proto__'] = Buffer.from('a')
  original['constructor'] = [Buffer.from('b'), null, Buffer.from('')]
  original['10'] = null
  original['9'] = Buffer.from([0xff, 0x00])
  const kept = withoutOwnHeaders({ ...original, 'barnabas-attempts': Buffer.from('9') })
  expect(Object.keys(kept).toSorted()).toEqual(['10', '9', '__proto__', 'constructor'])
  expect(Object.getPrototypeOf(kept)).toBeNull()
  for (const name of Object.keys(original)) expect(kept[name]).toBe(original[name])
})

test('invariant 5: forty hops change nothing but the hops, and add no headers', () => {
  const original = {
    ce_id: Buffer.from('1'),
    'x-several': [Buffer.from('a'), null],
    'barnabas-attempts': Buffer.from('9'),
  }
  let headers = retryHeaders(original, fullState, dueAt)
  const names = Object.keys(headers).toSorted()
  for (let hops = fullState.hops + 1; hops <= fullState.hops + 40; hops += 1) {
    const decoded = decodeRetryHeaders(headers)
    if (decoded.kind !== 'state') throw new Error(decoded.message)
    headers = retryHeaders(headers, { ...decoded.state, hops }, decoded.dueAt)
  }
  expect(Object.keys(headers).toSorted()).toEqual(names)
  expect(headers['x-several']).toEqual([Buffer.from('a'), null])
  expect(decodeRetryHeaders(headers)).toEqual({
    kind: 'state',
    state: { ...fullState, hops: fullState.hops + 40 },
    dueAt,
  })
})

test.each(['\uFEFFa byte order mark', '\uFFFD stood there', '\u0000', '😀'])('text stays as it is: %j', (lastError) => {
  const state = { ...fullState, lastError }
  expect(decodeRetryHeaders(retryHeaders({}, state, dueAt))).toEqual({ kind: 'state', state, dueAt })
})

test('retryHeaders leaves its argument alone', () => {
  const original = { ce_id: Buffer.from('1'), 'barnabas-attempts': Buffer.from('9') }
  retryHeaders(original, fullState, dueAt)
  expect(text(original)).toEqual({ ce_id: '1', 'barnabas-attempts': '9' })
})

describe('times', () => {
  test.each([
    [0, '1970-01-01T00:00:00.000Z'],
    [-1, '1969-12-31T23:59:59.999Z'],
    [earliest, '0000-01-01T00:00:00.000Z'],
    [earliest - 1, '0000-01-01T00:00:00.000Z'],
    [latest, '9999-12-31T23:59:59.999Z'],
    [latest + 1, '9999-12-31T23:59:59.999Z'],
    [Number.MAX_SAFE_INTEGER, '9999-12-31T23:59:59.999Z'],
    [-(2 ** 63), '0000-01-01T00:00:00.000Z'],
    [2 ** 63, '9999-12-31T23:59:59.999Z'],
  ])('a producer may stamp %d: %s', (stamp, expected) => {
    expect(rfc3339(stamp)).toBe(expected)
  })

  test('a due time is never written earlier than it is', () => {
    const headers = retryHeaders({}, fullState, dueAt + 0.001)
    expect(decodeRetryHeaders(headers)).toMatchObject({ dueAt: dueAt + 1 })
  })
})

describe('damage', () => {
  const good = retryHeaders({ ce_id: Buffer.from('1') }, fullState, dueAt)
  const badTexts = {
    'barnabas-subscription': [''],
    'barnabas-subscription-generation': ['x', '-1', ''],
    'barnabas-attempts': [
      '',
      '-1',
      '+1',
      '1.5',
      '1e3',
      ' 3',
      '3 ',
      '0x3',
      '٣',
      'NaN',
      '9007199254740993',
      '3'.repeat(17),
    ],
    'barnabas-publish-time': ['', '1772366400000', 'Sun, 01 Mar 2026 12:00:00 GMT', '2026-03-01'],
    'barnabas-first-attempt-time': ['2026-02-30T12:00:00.000Z', '2026-13-01T12:00:00.000Z'],
    'barnabas-last-attempt-time': ['2026-03-01T12:00:00.000', '2026-03-01T25:00:00.000Z', '2026-03-01T24:00:00.000Z'],
    'barnabas-expiry-time': ['never', '+010000-01-01T00:00:00.000Z'],
    'barnabas-due-time': ['', 'now', '2026-03-01T12:01:40.500Z\n'],
    'barnabas-last-outcome': ['', 'busy', 'Disabled', 'Busy '],
    'barnabas-last-status': ['', '5033', '-50', '50x'],
    'barnabas-last-error': [''],
    'barnabas-source-topic': [''],
    'barnabas-source-partition': ['', 'all', '-1'],
    'barnabas-source-offset': ['', '9223372036854775807', '-1'],
    'barnabas-skips': ['', 'often', '-1'],
    'barnabas-redrives': ['', 'once'],
    'barnabas-hops': ['', '∞'],
    'barnabas-destination': [],
    'barnabas-dead-letter-reason': [],
    'barnabas-dead-letter-time': [],
    'barnabas-dead-letter-blob': [],
    'barnabas-dead-letter-target': [],
    'barnabas-response-body': [],
  } satisfies Record<DeliveryHeader, string[]>

  const table = (Object.keys(deliveryHeaders) as DeliveryHeader[]).flatMap((name) => {
    const damages: readonly (readonly [string, HeaderValue | readonly HeaderValue[]])[] = [
      ['null', null],
      ['doubled', [good[name] as Buffer, good[name] as Buffer]],
      ['no value at all', []],
      ['not UTF-8', Buffer.from([0x33, 0xff])],
      ...badTexts[name].map((bad) => [JSON.stringify(bad), Buffer.from(bad)] as const),
    ]
    return damages.map(([damage, value]) => ({ name, damage, value }))
  })

  test.each(table.filter(({ name }) => deliveryHeaders[name].retry !== 'never'))(
    'promise 6: $name that is $damage is malformed, its bytes kept, the rest still known',
    ({ name, value }) => {
      const decoded = decodeRetryHeaders({ ...good, [name]: value })
      if (decoded.kind !== 'malformed') throw new Error('it was taken for good')
      expect(decoded.message).toMatch(new RegExp(`^${name} is not [^;]+$`))
      expect(decoded.damaged).toEqual({ [name]: value })
      expect(decoded.known).toEqual(knownWithout(name))
    },
  )

  test.each(Object.entries(deliveryHeaders).map(([name, { retry }]) => ({ name: name as DeliveryHeader, retry })))(
    'promise 6: $name may be missing: $retry',
    ({ name, retry }) => {
      const { [name]: _, ...rest } = good
      const decoded = decodeRetryHeaders(rest)
      if (retry === 'required') {
        expect(decoded).toEqual({
          kind: 'malformed',
          message: `${name} is missing`,
          known: knownWithout(name),
          damaged: {},
        })
      } else {
        const state = { ...fullState, ...absent[name] }
        expect(decoded).toEqual({ kind: 'state', state, dueAt })
      }
    },
  )

  test.each(table.filter(({ name }) => deliveryHeaders[name].retry === 'never'))(
    '$name has no place on a retry record, and is not read ($damage)',
    ({ name, value }) => {
      expect(decodeRetryHeaders({ ...good, [name]: value })).toEqual({ kind: 'state', state: fullState, dueAt })
    },
  )

  test('every problem is named', () => {
    const { 'barnabas-hops': _, ...rest } = good
    const damaged = { 'barnabas-attempts': Buffer.from('three'), 'barnabas-due-time': null }
    expect(decodeRetryHeaders({ ...rest, ...damaged })).toMatchObject({
      kind: 'malformed',
      message:
        'barnabas-attempts is not a whole number; barnabas-hops is missing; ' +
        'barnabas-due-time is not an RFC 3339 time',
      damaged,
    })
  })

  test('a record that never was a retry record', () => {
    const decoded = decodeRetryHeaders({ ce_id: Buffer.from('1') })
    expect(decoded.kind).toBe('malformed')
    for (const [name, { retry }] of Object.entries(deliveryHeaders)) {
      const { message } = decoded as { message: string }
      expect(message.split('; ').includes(`${name} is missing`)).toBe(retry === 'required')
    }
  })

  test('a count that cannot be read is never taken for 0', () => {
    fc.assert(
      fc.property(fc.oneof(headerValue, fc.array(headerValue)), (value) => {
        fc.pre(!(Buffer.isBuffer(value) && /^\d{1,15}$/.test(value.toString('latin1'))))
        expect(decodeRetryHeaders({ ...good, 'barnabas-attempts': value }).kind).toBe('malformed')
      }),
    )
  })

  test('times of another offset or precision are read: RFC 3339 allows them', () => {
    for (const same of ['2026-03-01T14:01:40.5+02:00', '2026-03-01T12:01:40.500000Z']) {
      const decoded = decodeRetryHeaders({ ...good, 'barnabas-due-time': Buffer.from(same) })
      expect(decoded).toMatchObject({ kind: 'state', dueAt })
    }
  })

  /** What a state lacks when a header is not there. */
  const absent: Partial<Record<DeliveryHeader, Partial<DeliveryState>>> = {
    'barnabas-first-attempt-time': { firstAttemptTime: null },
    'barnabas-last-attempt-time': { lastAttemptTime: null },
    'barnabas-expiry-time': { expiryTime: null },
    'barnabas-last-outcome': { lastOutcome: null },
    'barnabas-last-status': { lastStatus: null },
    'barnabas-last-error': { lastError: null },
    'barnabas-skips': { skips: 0 },
    'barnabas-redrives': { redrives: 0 },
  }

  function knownWithout(name: DeliveryHeader) {
    const { source } = fullState
    const unknown: Partial<Record<DeliveryHeader, object>> = {
      'barnabas-subscription': { subscriptionId: undefined },
      'barnabas-subscription-generation': { generation: undefined },
      'barnabas-attempts': { attempts: undefined },
      'barnabas-publish-time': { publishTime: undefined },
      'barnabas-first-attempt-time': { firstAttemptTime: undefined },
      'barnabas-last-attempt-time': { lastAttemptTime: undefined },
      'barnabas-expiry-time': { expiryTime: undefined },
      'barnabas-last-outcome': { lastOutcome: undefined },
      'barnabas-last-status': { lastStatus: undefined },
      'barnabas-last-error': { lastError: undefined },
      'barnabas-source-topic': { source: { ...source, topic: undefined } },
      'barnabas-source-partition': { source: { ...source, partition: undefined } },
      'barnabas-source-offset': { source: { ...source, offset: undefined } },
      'barnabas-skips': { skips: undefined },
      'barnabas-redrives': { redrives: undefined },
      'barnabas-hops': { hops: undefined },
    }
    return { ...fullState, ...unknown[name] }
  }
})
