import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deadLetterRecords, utf8Prefix } from './dead-letter.ts'
import type { DeadLetter } from './dead-letter.ts'
import { decodeRetryHeaders, deliveryHeaders, retryHeaders } from './delivery-headers.ts'
import type { DeliveryHeader } from './delivery-headers.ts'
import { newDeliveryState } from './delivery-state.ts'
import type { DeliveryState } from './delivery-state.ts'
import { decodeEvent } from './event.ts'
import type { RecordHeaders } from './record.ts'
import { deadLetterReasons } from './verdict.ts'

const state: DeliveryState = {
  subscriptionId: 'orders-to-billing',
  generation: 1_772_366_400_000,
  source: { topic: 'orders', partition: 3, offset: 42 },
  publishTime: Date.parse('2026-03-01T12:00:00.000Z'),
  attempts: 11,
  firstAttemptTime: Date.parse('2026-03-01T12:00:00.015Z'),
  lastAttemptTime: Date.parse('2026-03-02T10:46:40.120Z'),
  expiryTime: Date.parse('2026-03-02T12:00:00.015Z'),
  lastOutcome: 'NotFound',
  lastStatus: 404,
  lastError: 'the answer was 404',
  skips: 0,
  redrives: 0,
  hops: 27,
}
const binaryHeaders = {
  ce_specversion: Buffer.from('1.0'),
  ce_id: Buffer.from('1'),
  ce_source: Buffer.from('/shop'),
  ce_type: Buffer.from('order.placed'),
  'content-type': Buffer.from('application/json'),
}
const letter: DeadLetter = {
  topic: 'barnabas.dead-letter',
  key: Buffer.from([0x00, 0xff]),
  value: Buffer.from('{"n": 9007199254740993}'),
  headers: binaryHeaders,
  state,
  reason: 'TimeToLiveExceeded',
  time: Date.parse('2026-03-02T22:46:40.000Z'),
  destination: 'https://billing.example.com/hook',
  responseBody: Buffer.from('no such hook'),
}

function text(headers: RecordHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

function own(headers: RecordHeaders): string[] {
  return Object.keys(headers).filter((name) => name.startsWith('barnabas-'))
}

const [whole] = deadLetterRecords(letter)

test('A13, A15: a dead letter carries everything known about its delivery', () => {
  expect({ ...whole, headers: text(whole.headers) }).toEqual({
    topic: 'barnabas.dead-letter',
    key: letter.key,
    value: letter.value,
    headers: {
      ...text(binaryHeaders),
      'barnabas-subscription': 'orders-to-billing',
      'barnabas-subscription-generation': '1772366400000',
      'barnabas-attempts': '11',
      'barnabas-publish-time': '2026-03-01T12:00:00.000Z',
      'barnabas-first-attempt-time': '2026-03-01T12:00:00.015Z',
      'barnabas-last-attempt-time': '2026-03-02T10:46:40.120Z',
      'barnabas-last-outcome': 'NotFound',
      'barnabas-last-status': '404',
      'barnabas-last-error': 'the answer was 404',
      'barnabas-source-topic': 'orders',
      'barnabas-source-partition': '3',
      'barnabas-source-offset': '42',
      'barnabas-destination': 'https://billing.example.com/hook',
      'barnabas-dead-letter-reason': 'TimeToLiveExceeded',
      'barnabas-dead-letter-time': '2026-03-02T22:46:40.000Z',
      'barnabas-response-body': 'no such hook',
      ce_deadletterreason: 'TimeToLiveExceeded',
      ce_deliveryattempts: '11',
      ce_lastdeliveryoutcome: 'NotFound',
      ce_publishtime: '2026-03-01T12:00:00.000Z',
      ce_lastdeliveryattempttime: '2026-03-02T10:46:40.120Z',
    },
  })
})

test('its headers are those of the reference', () => {
  const [redriven] = deadLetterRecords({
    ...letter,
    blob: 'archive/letters',
    target: 'kafka://audit/letters',
    state: { ...state, redrives: 2, skips: 1 },
  })
  const documented = Object.entries(deliveryHeaders).filter(([, { deadLetter }]) => deadLetter)
  expect(own(redriven.headers).toSorted()).toEqual(documented.map(([name]) => name).toSorted())
  expect(String(redriven.headers['barnabas-redrives'])).toBe('2')
  expect(String(redriven.headers['barnabas-dead-letter-blob'])).toBe('archive/letters')
  expect(String(redriven.headers['barnabas-dead-letter-target'])).toBe('kafka://audit/letters')
})

test.each(deadLetterReasons)('A13: the reason %s goes on the wire as it stands', (reason) => {
  const [{ headers }] = deadLetterRecords({ ...letter, reason })
  expect(text(headers)).toMatchObject({ 'barnabas-dead-letter-reason': reason, ce_deadletterreason: reason })
})

test('A15: a dead letter in binary mode is an event for any consumer of CloudEvents', () => {
  const decoded = decodeEvent(whole)
  if (decoded.kind !== 'event') throw new Error(decoded.message)
  expect(decoded.event.mode).toBe('binary')
  expect(decoded.event.attributes.get('deadletterreason')).toBe('TimeToLiveExceeded')
  expect(decoded.event.attributes.get('deliveryattempts')).toBe('11')
})

describe('nothing unknown is made up', () => {
  test('an event that was never attempted', () => {
    const fresh = newDeliveryState({ id: 'a', generation: 1 }, state.source, state.publishTime)
    const { destination: _, ...rest } = letter
    const [{ headers }] = deadLetterRecords({ ...rest, responseBody: null, state: fresh, reason: 'EventMalformed' })
    expect(own(headers).toSorted()).toEqual([
      'barnabas-attempts',
      'barnabas-dead-letter-reason',
      'barnabas-dead-letter-time',
      'barnabas-publish-time',
      'barnabas-source-offset',
      'barnabas-source-partition',
      'barnabas-source-topic',
      'barnabas-subscription',
      'barnabas-subscription-generation',
    ])
    expect(String(headers['barnabas-attempts'])).toBe('0')
    expect(text(headers)).toMatchObject({ ce_deliveryattempts: '0' })
    expect(headers).not.toHaveProperty('ce_lastdeliveryoutcome')
    expect(headers).not.toHaveProperty('ce_lastdeliveryattempttime')
  })

  test('a record of which nothing could be read', () => {
    const { destination: _, ...rest } = letter
    const [{ headers }] = deadLetterRecords({
      ...rest,
      state: {},
      responseBody: null,
      reason: 'DeliveryMetadataMalformed',
    })
    expect(own(headers).toSorted()).toEqual(['barnabas-dead-letter-reason', 'barnabas-dead-letter-time'])
    expect(
      Object.keys(headers)
        .filter((name) => name.startsWith('ce_'))
        .toSorted(),
    ).toEqual(['ce_deadletterreason', 'ce_id', 'ce_source', 'ce_specversion', 'ce_type'])
  })

  test('what an earlier dead letter said does not stay where now nothing is known', () => {
    const [{ headers }] = deadLetterRecords({ ...letter, headers: whole.headers, state: {}, reason: 'EventMalformed' })
    expect(String(headers['ce_deadletterreason'])).toBe('EventMalformed')
    for (const name of ['ce_deliveryattempts', 'ce_lastdeliveryoutcome', 'ce_publishtime', 'barnabas-attempts']) {
      expect(headers).not.toHaveProperty(name)
    }
  })

  test('times at the epoch are known', () => {
    const [{ headers }] = deadLetterRecords({ ...letter, state: { ...state, publishTime: 0, lastAttemptTime: 0 } })
    expect(text(headers)).toMatchObject({
      'barnabas-publish-time': '1970-01-01T00:00:00.000Z',
      'barnabas-last-attempt-time': '1970-01-01T00:00:00.000Z',
      ce_publishtime: '1970-01-01T00:00:00.000Z',
      ce_lastdeliveryattempttime: '1970-01-01T00:00:00.000Z',
    })
  })
})

describe('the headers of the event', () => {
  const odd: Record<string, RecordHeaders[string]> = Object.create(null)
  odd['__proto__'] = Buffer.from([0xff])
  odd['constructor'] = [Buffer.from('a'), null, Buffer.from('')]
  odd['7'] = null

  test('stay byte for byte', () => {
    const [{ headers }] = deadLetterRecords({ ...letter, headers: Object.assign(odd, binaryHeaders) })
    for (const name of Object.keys(odd)) expect(headers[name]).toBe(odd[name])
  })

  test('that are ours, or say the same, are replaced and never doubled', () => {
    const again = {
      ...whole.headers,
      'barnabas-skips': Buffer.from('1'),
      ce_deadletterreason: [null, Buffer.from('x')],
    }
    const [{ headers }] = deadLetterRecords({ ...letter, headers: again, state: { ...state, attempts: 12 } })
    expect(text(headers)).toEqual({ ...text(whole.headers), 'barnabas-attempts': '12', ce_deliveryattempts: '12' })
  })

  test.each([
    'application/cloudevents+json',
    'application/cloudevents+json; charset=utf-8',
    'Application/CloudEvents+JSON',
  ])('A15: a structured event (%s) gets no extension attributes, and keeps what it carries', (contentType) => {
    for (const name of ['content-type', 'Content-Type']) {
      const structured = {
        [name]: Buffer.from(contentType),
        // Kafka binding §3.3: a structured event may repeat its attributes as headers.
        ce_specversion: Buffer.from('1.0'),
        ce_publishtime: Buffer.from('of the event'),
      }
      const [{ headers }] = deadLetterRecords({ ...letter, headers: structured })
      const rest = Object.entries(text(headers)).filter(([header]) => !header.startsWith('barnabas-'))
      expect(Object.fromEntries(rest)).toEqual(text(structured))
    }
  })

  test('A15: what is no binary event gets no extension attributes', () => {
    const [{ headers }] = deadLetterRecords({ ...letter, headers: { ce_lastdeliveryoutcome: Buffer.from('mine') } })
    const rest = Object.keys(headers).filter((name) => !name.startsWith('barnabas-'))
    expect(rest).toEqual(['ce_lastdeliveryoutcome'])
    expect(String(headers['ce_lastdeliveryoutcome'])).toBe('mine')
  })
})

test('promise 6: the bytes of damaged delivery headers are kept under another name', () => {
  const damagedHeaders = {
    ...retryHeaders(binaryHeaders, state, 0),
    'barnabas-attempts': Buffer.from([0x31, 0xff]),
    'barnabas-due-time': null,
    'barnabas-hops': [Buffer.from('1'), Buffer.from('2')],
  }
  const decoded = decodeRetryHeaders(damagedHeaders)
  if (decoded.kind !== 'malformed') throw new Error('it was taken for good')
  const [{ headers }] = deadLetterRecords({
    ...letter,
    headers: damagedHeaders,
    state: { ...decoded.known, lastError: decoded.message },
    damaged: decoded.damaged,
    reason: 'DeliveryMetadataMalformed',
  })
  expect(headers['barnabas-malformed-attempts']).toEqual(Buffer.from([0x31, 0xff]))
  expect(headers['barnabas-malformed-due-time']).toBeNull()
  expect(headers['barnabas-malformed-hops']).toEqual([Buffer.from('1'), Buffer.from('2')])
  for (const name of ['barnabas-attempts', 'barnabas-due-time', 'barnabas-hops', 'ce_deliveryattempts']) {
    expect(headers).not.toHaveProperty(name)
  }
  expect(text(headers)).toMatchObject({
    'barnabas-subscription': 'orders-to-billing',
    'barnabas-source-offset': '42',
    'barnabas-last-outcome': 'NotFound',
    'barnabas-last-error': decoded.message,
  })
})

describe('the forms that are tried while the broker refuses the one before as too large', () => {
  const damaged = { 'barnabas-hops': Buffer.from('x') }
  const forms = deadLetterRecords({ ...letter, damaged })
  const difference = (form: number) => {
    const after = forms[form]!.headers
    return Object.keys(forms[form - 1]!.headers)
      .filter((name) => !(name in after))
      .toSorted()
  }

  test('1: whole', () => {
    expect(forms).toHaveLength(4)
    expect(forms[0]).toMatchObject({ key: letter.key, value: letter.value })
    expect(forms[0].headers).toHaveProperty('barnabas-malformed-hops')
  })

  test('2: without response body and error text, for the same reason', () => {
    expect(forms[1]).toMatchObject({ key: letter.key, value: letter.value })
    expect(difference(1)).toEqual(['barnabas-last-error', 'barnabas-response-body'])
    expect(String(forms[1]!.headers['barnabas-dead-letter-reason'])).toBe('TimeToLiveExceeded')
  })

  test('3: without its value, as RecordTooLarge, and it names the source offset', () => {
    expect(forms[2]).toMatchObject({ key: letter.key, value: null })
    expect(difference(2)).toEqual([])
    expect(text(forms[2]!.headers)).toMatchObject({
      ...text(binaryHeaders),
      'barnabas-dead-letter-reason': 'RecordTooLarge',
      ce_deadletterreason: 'RecordTooLarge',
      'barnabas-source-topic': 'orders',
      'barnabas-source-partition': '3',
      'barnabas-source-offset': '42',
    })
  })

  test('4: our headers alone', () => {
    expect(forms[3]).toMatchObject({ topic: letter.topic, key: null, value: null })
    expect(Object.keys(forms[3]!.headers).every((name) => name.startsWith('barnabas-'))).toBe(true)
    expect(text(forms[3]!.headers)).toMatchObject({
      'barnabas-dead-letter-reason': 'RecordTooLarge',
      'barnabas-attempts': '11',
      'barnabas-source-offset': '42',
    })
    expect(forms[3]!.headers).not.toHaveProperty('barnabas-malformed-hops')
  })

  test('every form goes to the same topic and has only headers of the reference', () => {
    for (const { topic, headers } of forms) {
      expect(topic).toBe(letter.topic)
      for (const name of own(headers)) {
        if (name === 'barnabas-malformed-hops') continue
        expect(deliveryHeaders[name as DeliveryHeader].deadLetter).toBe(true)
      }
    }
  })
})

describe('the response body', () => {
  const written = (responseBody: Buffer | null) =>
    deadLetterRecords({ ...letter, responseBody })[0].headers['barnabas-response-body'] as Buffer | undefined

  test('is absent when there was none', () => {
    expect(written(null)).toBeUndefined()
  })

  test.each<readonly [string, string, string]>([
    ['ASCII of the limit', 'a'.repeat(1_024), 'a'.repeat(1_024)],
    ['ASCII past the limit', 'a'.repeat(1_025), 'a'.repeat(1_024)],
    ['two bytes at the cut', `a${'é'.repeat(600)}`, `a${'é'.repeat(511)}`],
    ['three bytes at the cut', '€'.repeat(400), '€'.repeat(341)],
    ...[0, 1, 2, 3].map((shift) => {
      const kept = 'a'.repeat(shift) + '😀'.repeat(shift === 0 ? 256 : 255)
      return [`four bytes at the cut, ${shift} before`, 'a'.repeat(shift) + '😀'.repeat(300), kept] as const
    }),
    ['a byte order mark', '\uFEFFa', '\uFEFFa'],
    ['a replacement character that stood there', 'a\uFFFD', 'a\uFFFD'],
  ])('%s', (_, body, expected) => {
    expect(String(written(Buffer.from(body)))).toBe(expected)
    // A sender may have cut it at 1 KiB before.
    expect(String(written(Buffer.from(body).subarray(0, 1_024)))).toBe(expected)
  })

  test('what is no UTF-8 becomes U+FFFD', () => {
    expect(String(written(Buffer.from([0x61, 0xff, 0x62])))).toBe('a\uFFFDb')
    expect(String(written(Buffer.from([0x61, 0xe2, 0x82])))).toBe('a\uFFFD')
    expect(String(written(Buffer.alloc(1_024, 0xff)))).toBe('\uFFFD'.repeat(341))
  })

  test('is always UTF-8 within the limit, and only the end is missing', () => {
    const pieces = fc.oneof(
      fc.string({ unit: 'binary' }).map((piece) => Buffer.from(piece)),
      fc.uint8Array().map(Buffer.from),
    )
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 8 }).map(Buffer.concat),
        fc.integer({ min: 4, max: 40 }),
        (body, limit) => {
          const prefix = utf8Prefix(body, limit)
          expect(prefix.length).toBeLessThanOrEqual(limit)
          const prefixText = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(prefix)
          expect(body.toString().startsWith(prefixText)).toBe(true)
          // Whatever comes next did not fit: a character has at most four bytes.
          if (body.length > limit) expect(prefix.length).toBeGreaterThan(limit - 4)
        },
      ),
    )
  })
})
