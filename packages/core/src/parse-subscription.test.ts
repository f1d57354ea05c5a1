import { expect, test } from 'vitest'
import type { ParseOptions } from './parse-subscription.ts'
import { parseSubscription } from './parse-subscription.ts'

const least = { id: 'orders-to-billing', topics: ['orders'], sink: 'https://billing.example.com/hook' }

/** The messages about `input`, empty when it is valid. */
function messages(input: unknown, options?: ParseOptions): string[] {
  const parsed = parseSubscription(input, options)
  return parsed.kind === 'valid' ? [] : parsed.problems.map(({ message }) => message)
}

function read(input: unknown, options?: ParseOptions) {
  const parsed = parseSubscription(input, options)
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems))
  return parsed
}

test('three fields are enough, and the rest are the documented defaults', () => {
  const { subscription, written, expected, warnings } = read(least)
  expect(subscription).toMatchObject({
    ...least,
    generation: 0,
    revision: 0,
    startOffsets: {},
    types: [],
    filters: [],
    timeoutMs: 30_000,
    mode: 'binary',
    concurrency: 64,
    batch: { maxEvents: 1, preferredBytes: 65_536 },
    retry: { schedule: 'event-grid', maxAttempts: 30, timeToLiveMs: 86_400_000, minimumWaits: true },
    notation: 'barnabas',
    deadLetter: { topic: 'barnabas.dead-letter', responseBody: true },
  })
  expect(written).toEqual(least)
  expect(expected).toBeNull()
  expect(warnings).toEqual([])
})

test('every default may be spelled out, those of later versions too', () => {
  const spelledOut = {
    ...least,
    from: 'latest',
    input: 'cloudevents',
    types: [],
    filters: [],
    headers: {},
    timeout: '30s',
    schema: 'CloudEventSchemaV1_0',
    mode: 'binary',
    concurrency: 64,
    retry: { schedule: 'event-grid', maxAttempts: 30, timeToLive: '24h', neverOn: [400, 401, 403, 410, 413] },
    faultTolerance: 'allowed',
    order: 'none',
    batch: { maxEvents: 1, preferredSize: '64KB' },
    endpoint: 'webhook',
    notation: 'barnabas',
    inputSchemaMapping: 'none',
    probation: { after: 10 },
    handshake: 'none',
    rate: 'none',
    transform: {},
    deadLetter: { topic: 'barnabas.dead-letter', responseBody: true },
  }
  expect(read(spelledOut).subscription).toEqual(read(least).subscription)
  expect(read(spelledOut).written).toEqual(spelledOut)
})

test('what is set takes effect', () => {
  const { subscription } = read({
    ...least,
    topics: ['orders', 'returns'],
    types: ['com.example.paid'],
    filters: [{ prefix: { subject: 'eu/' } }],
    timeout: '5s',
    mode: 'structured',
    concurrency: 1,
    retry: { schedule: ['1s', '10s', '5m'], neverOn: [] },
    deadLetter: { topic: 'orders-dead', responseBody: false },
  })
  expect(subscription).toMatchObject({
    topics: ['orders', 'returns'],
    types: ['com.example.paid'],
    filters: [{ prefix: { subject: 'eu/' } }],
    timeoutMs: 5_000,
    mode: 'structured',
    concurrency: 1,
    retry: { schedule: 'list', maxAttempts: 4, timeToLiveMs: null, neverOn: new Set() },
    deadLetter: { topic: 'orders-dead', responseBody: false },
  })
  expect(subscription.retry.delays.map(({ baseMs }) => baseMs)).toEqual([1_000, 10_000, 300_000])
})

test('C2: event-grid-kubernetes waits 60 s for an answer unless a timeout is set', () => {
  expect(read({ ...least, retry: { schedule: 'event-grid-kubernetes' } }).subscription.timeoutMs).toBe(60_000)
  const set = { ...least, timeout: '2s', retry: { schedule: 'event-grid-kubernetes' } }
  expect(read(set).subscription.timeoutMs).toBe(2_000)
})

test('a time scale multiplies every duration, and limits stay those of what was written', () => {
  const scaled = read({ ...least, retry: { timeToLive: '30m' } }, { timeScale: 0.01 }).subscription
  expect(scaled.timeoutMs).toBe(300)
  expect(scaled.retry).toMatchObject({ timeToLiveMs: 18_000, timeScale: 0.01 })
  expect(scaled.retry.delays[0]).toEqual({ baseMs: 100, spreadMs: 10 })
})

test('the prefix decides where dead letters go', () => {
  expect(read(least, { prefix: 'shop' }).subscription.deadLetter?.topic).toBe('shop.dead-letter')
})

test('without dead letters exhausted events are discarded, which is a warning', () => {
  const { subscription, warnings } = read({ ...least, deadLetter: 'none' })
  expect(subscription.deadLetter).toBeNull()
  expect(warnings).toEqual([expect.stringContaining('discarded')])
})

test('what `barnabas get` adds is accepted: it tells which revision the file was taken from', () => {
  const got = { ...least, generation: 1_700_000_000_000, revision: 3, startOffsets: { orders: { 0: 5 } }, status: {} }
  const parsed = read(got)
  expect(parsed.expected).toEqual({ revision: 3, generation: 1_700_000_000_000 })
  expect(parsed.written).toEqual(least)
  expect(read({ ...least, revision: 3 }).expected).toEqual({ revision: 3, generation: null })
})

test('problems carry the path to their place in the document', () => {
  const parsed = parseSubscription({ ...least, retry: { schedule: ['1s', 'soon'], bananas: 1 } })
  expect(parsed).toMatchObject({
    kind: 'invalid',
    problems: [{ path: ['retry', 'schedule', 1] }, { path: ['retry', 'bananas'] }],
  })
})

const schedules =
  'one of event-grid, event-grid-kubernetes, backoff, exponential-decay, or a list such as [1s, 10s, 5m]'

test.each<[field: object, message: string]>([
  [{ id: undefined }, 'id: is missing'],
  [{ id: null }, 'id: null is not text'],
  [{ id: 12 }, 'id: 12 is not text; put it in quotes: "12"'],
  [{ id: '' }, 'id: is empty'],
  [{ id: 'Orders' }, 'id: "Orders" is not an id; lower-case letters, digits and "-", beginning with a letter or digit'],
  [{ id: '-a' }, 'id: "-a" is not an id; lower-case letters, digits and "-", beginning with a letter or digit'],
  [{ id: 'a.b' }, 'id: "a.b" is not an id; lower-case letters, digits and "-", beginning with a letter or digit'],
  [{ id: 'a\n' }, 'id: "a\\n" is not an id; lower-case letters, digits and "-", beginning with a letter or digit'],
  [
    { id: '__proto__' },
    'id: "__proto__" is not an id; lower-case letters, digits and "-", beginning with a letter or digit',
  ],
  [{ id: 'a'.repeat(64) }, `id: "${'a'.repeat(64)}" has 64 characters, more than 63`],
  [{ topics: undefined }, 'topics: is missing'],
  [{ topics: null }, 'topics: null is not a list; write [orders]'],
  [{ topics: 'orders' }, 'topics: "orders" is not a list; write [orders]'],
  [{ topics: [] }, 'topics: is empty; name at least one topic'],
  [{ topics: [5] }, 'topics[0]: 5 is not text; put it in quotes: "5"'],
  [{ topics: ['a', 'b', 'a'] }, 'topics[2]: "a" stands twice'],
  [
    { topics: ['or ders'] },
    'topics[0]: "or ders" is not a topic: it may only contain letters, digits, ".", "_" and "-"',
  ],
  [{ topics: ['..'] }, 'topics[0]: ".." is not a topic: it is not allowed by Kafka'],
  [{ topics: Array.from({ length: 101 }, (_, n) => `t${n}`) }, 'topics: has 101 entries, more than 100'],
  [{ topics: ['barnabas.status'] }, `topics[0]: "barnabas.status" is one of Barnabas's own topics and holds no events`],
  [
    { topics: ['barnabas.retry.1m'] },
    `topics[0]: "barnabas.retry.1m" is one of Barnabas's own topics and holds no events`,
  ],
  [{ sink: undefined }, 'sink: is missing'],
  [{ sink: 5 }, 'sink: 5 is not text; put it in quotes: "5"'],
  [{ sink: ['https://a.example'] }, 'sink: ["https://a.example"] is not text'],
  [
    { sink: 'billing.example.com/hook' },
    'sink: "billing.example.com/hook" is not an http(s) URL; write for example https://billing.example.com/hook',
  ],
  [
    { sink: 'localhost:8080' },
    'sink: "localhost:8080" is not an http(s) URL; write for example https://billing.example.com/hook',
  ],
  [{ sink: 'https://' }, 'sink: "https://" is not an http(s) URL; write for example https://billing.example.com/hook'],
  [{ from: 'beginning' }, 'from: "beginning" is not known; one of latest, earliest'],
  [{ from: 'lastest' }, 'from: "lastest" is not known; one of latest, earliest (did you mean latest?)'],
  [{ types: 'com.example.paid' }, 'types: "com.example.paid" is not a list; write [com.example.paid], or [] for all'],
  [{ types: [''] }, 'types[0]: is empty'],
  [{ types: ['a', null] }, 'types[1]: null is not text'],
  [{ timeout: 30 }, 'timeout: 30 is not a duration; a whole number with ms, s, m, h or d, such as 30s'],
  [{ timeout: '30' }, 'timeout: "30" is not a duration; a whole number with ms, s, m, h or d, such as 30s'],
  [{ timeout: '99ms' }, 'timeout: 99ms is not from 100ms to 10m'],
  [{ timeout: '601s' }, 'timeout: 601s is not from 100ms to 10m'],
  [{ mode: 'Binary' }, 'mode: "Binary" is not known; one of binary, structured (did you mean binary?)'],
  [{ concurrency: 0 }, 'concurrency: 0 is not a whole number from 1 to 10000'],
  [{ concurrency: 10_001 }, 'concurrency: 10001 is not a whole number from 1 to 10000'],
  [{ concurrency: 1.5 }, 'concurrency: 1.5 is not a whole number from 1 to 10000'],
  [{ concurrency: '64' }, 'concurrency: "64" is not a whole number from 1 to 10000'],
  [{ concurrency: NaN }, 'concurrency: null is not a whole number from 1 to 10000'],
  [{ retry: null }, 'retry: null is not a mapping of fields to values'],
  [{ retry: 'backoff' }, 'retry: "backoff" is not a mapping of fields to values'],
  [
    { retry: { schedule: 'evnt-grid' } },
    `retry.schedule: "evnt-grid" is not a schedule; ${schedules} (did you mean event-grid?)`,
  ],
  [{ retry: { schedule: 'constructor' } }, `retry.schedule: "constructor" is not a schedule; ${schedules}`],
  [{ retry: { schedule: '10s' } }, `retry.schedule: "10s" is not a schedule; ${schedules}`],
  [{ retry: { schedule: {} } }, `retry.schedule: {} is not a schedule; ${schedules}`],
  [{ retry: { schedule: [] } }, 'retry.schedule: is empty; for no retries at all set maxAttempts: 1'],
  [{ retry: { schedule: ['1s', 10] } }, 'retry.schedule[1]: 10 is not a delay from 0s to 1d such as 500ms, 30s, 5m'],
  [{ retry: { schedule: ['2d'] } }, 'retry.schedule[0]: "2d" is not a delay from 0s to 1d such as 500ms, 30s, 5m'],
  [
    { retry: { schedule: ['repeat'] } },
    'retry.schedule[0]: repeat may only stand last, behind the delay that it repeats',
  ],
  [
    { retry: { schedule: ['1s', 'repeat', '2s'] } },
    'retry.schedule[1]: repeat may only stand last, behind the delay that it repeats',
  ],
  [
    { retry: { schedule: ['1s', 'repeat'] } },
    'retry.schedule: repeat has no end of its own; set maxAttempts or timeToLive',
  ],
  [
    { retry: { schedule: ['10ms', 'repeat'], timeToLive: '1m' } },
    'retry.schedule[0]: a repeated delay must be at least 100ms',
  ],
  [{ retry: { schedule: Array.from({ length: 501 }, () => '1s') } }, 'retry.schedule: has 501 delays, more than 500'],
  [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts: 0 is not a whole number from 1 to 10000'],
  [{ retry: { maxAttempts: 31 } }, 'retry.maxAttempts: 31 is more than event-grid makes; from 1 to 30'],
  [{ retry: { schedule: 'backoff', maxAttempts: 5 } }, 'retry.maxAttempts: 5 is more than backoff makes; from 1 to 4'],
  [
    { retry: { schedule: 'exponential-decay', maxAttempts: 178 } },
    'retry.maxAttempts: 178 is more than exponential-decay makes; from 1 to 177',
  ],
  [
    { retry: { schedule: ['1s', '2s'], maxAttempts: 4 } },
    'retry.maxAttempts: 4 is more than a list of 2 delays makes; from 1 to 3',
  ],
  [{ retry: { timeToLive: '59s' } }, 'retry.timeToLive: 59s is not possible with event-grid; from 1m to 1d'],
  [{ retry: { timeToLive: '25h' } }, 'retry.timeToLive: 25h is not possible with event-grid; from 1m to 1d'],
  [
    { retry: { schedule: 'exponential-decay', timeToLive: '2d' } },
    'retry.timeToLive: 2d is not possible with exponential-decay; from 1s to 1d',
  ],
  [
    { retry: { timeToLive: 1440 } },
    'retry.timeToLive: 1440 is not a duration; a whole number with ms, s, m, h or d, such as 30s',
  ],
  [{ retry: { neverOn: 400 } }, 'retry.neverOn: 400 is not a list; write [400, 413], or [] for none'],
  [{ retry: { neverOn: [200] } }, 'retry.neverOn[0]: 200 is a success; only failures can be exempt from retries'],
  [{ retry: { neverOn: ['400'] } }, 'retry.neverOn[0]: "400" is not an HTTP status from 100 to 599'],
  [{ retry: { neverOn: [400, 600] } }, 'retry.neverOn[1]: 600 is not an HTTP status from 100 to 599'],
  [{ retry: { maxAtempts: 3 } }, 'retry.maxAtempts: is not a known field (did you mean maxAttempts?)'],
  [{ deadLetter: null }, 'deadLetter: null is not a mapping of fields to values'],
  [{ deadLetter: false }, 'deadLetter: false is not a mapping of fields to values'],
  [{ deadLetter: { topic: '' } }, 'deadLetter.topic: is empty'],
  [
    { deadLetter: { topic: 'barnabas.retry.now' } },
    `deadLetter.topic: "barnabas.retry.now" is one of Barnabas's own topics; name another`,
  ],
  [{ deadLetter: { responseBody: 'no' } }, 'deadLetter.responseBody: "no" is neither true nor false'],
  [{ deadLetter: { topics: 'x' } }, 'deadLetter.topics: is not a known field (did you mean topic?)'],
  [{ revision: 0 }, 'revision: 0 is not a revision; leave it out, or as get wrote it'],
  [{ revision: '3' }, 'revision: "3" is not a revision; leave it out, or as get wrote it'],
  [{ generation: -1, revision: 1 }, 'generation: -1 is not a generation; leave it out'],
  [{ topic: 'orders' }, 'topic: is not a known field (did you mean topics?)'],
  [{ dead_letter: 'none' }, 'dead_letter: is not a known field (did you mean deadLetter?)'],
  [{ constructor: 1 }, 'constructor: is not a known field'],
  [JSON.parse('{"__proto__":{"order":"key"}}'), '__proto__: is not a known field'],
])('%j is refused', (change, message) => {
  // A spread would set the prototype of a literal instead of a field of that name.
  const input = Object.fromEntries([...Object.entries(least), ...Object.entries(change)])
  expect(messages(input)).toEqual([message])
})

test.each<[field: object, message: string]>([
  [{ order: 'kee' }, 'order: "kee" is not known; one of none, key, partition (did you mean key?)'],
  [{ order: null }, 'order: null is not known; one of none, key, partition'],
  [
    { order: 'key', batch: { maxEvents: 2 } },
    'order: key is not possible with batches; set batch.maxEvents to 1, or leave the order out',
  ],
  [{ batch: { window: '15001ms' } }, 'batch.window: "15001ms" is not a duration from 0s to 15s, such as 5s'],
  [{ batch: { window: 5 } }, 'batch.window: 5 is not a duration from 0s to 15s, such as 5s'],
  [{ filters: [{ sql: 'a = 1' }] }, 'filters[0].sql: is not available in this version'],
])('%j of a later version is refused by name', (change, message) => {
  expect(messages({ ...least, ...change })).toEqual([message])
})

test('A13: a container of a storage account for dead letters', () => {
  const blob = { account: 'archive1', container: 'dead-letters' }
  expect(parseSubscription({ ...least, deadLetter: { blob } })).toMatchObject({
    kind: 'valid',
    subscription: { deadLetter: { topic: 'barnabas.dead-letter', responseBody: true, blob } },
    warnings: [],
  })
})

test.each([
  [{}, ['deadLetter.blob.account: is missing', 'deadLetter.blob.container: is missing']],
  ['archive', ['deadLetter.blob: "archive" is not a mapping of fields to values']],
  [
    { account: 'Archive', container: 'a--b' },
    [
      'deadLetter.blob.account: "Archive" is not the name of a storage account: it has 3 to 24 characters, lower-case letters and digits',
      'deadLetter.blob.container: "a--b" is not the name of a container: it has 3 to 63 characters: lower-case letters, digits, and single hyphens between them',
    ],
  ],
  [
    { account: 'archive', container: 'letters', contaner: 'x' },
    ['deadLetter.blob.contaner: is not a known field (did you mean container?)'],
  ],
])('a container that cannot be: %j', (blob, expected) => {
  expect(messages({ ...least, deadLetter: { blob } })).toEqual(expected)
})

test('an unknown field deep in a stored subscription is ignored with a warning', () => {
  const blob = { account: 'archive', container: 'letters', later: { deep: 1 } }
  const stored = parseSubscription({ ...least, deadLetter: { blob } }, { unknownFields: 'ignore-with-warning' })
  expect(stored).toMatchObject({
    kind: 'valid',
    warnings: ['deadLetter.blob.later: is not a known field; it is ignored'],
  })
})

test.each([[null], [undefined], [5], ['id: orders'], [[]], [true], [Symbol('x')], [10n], [() => 1]])(
  '%s is no subscription',
  (input) => {
    expect(messages(input)).toEqual([expect.stringMatching(/^subscription: .+ is not a mapping$/)])
  },
)

test('all problems are told at once', () => {
  expect(messages({ topics: 'x', bananas: 1, retry: { schedule: 'soon' } })).toHaveLength(5)
})

test('user name and password in a sink are refused and never shown', () => {
  for (const sink of ['https://me:secret@a.example/', 'ftp://me:secret@a.example/']) {
    const [message] = messages({ ...least, sink })
    expect(message).toContain('user name and password')
    expect(message).not.toContain('secret')
  }
})

test('a huge value is cut in the message', () => {
  const [message] = messages({ ...least, mode: 'x'.repeat(1_000_000) })
  expect(message!.length).toBeLessThan(200)
})

test('a value that refers to itself is refused like any other', () => {
  const cycle: Record<string, unknown> = {}
  cycle['self'] = cycle
  expect(messages({ ...least, sink: cycle })).toEqual(['sink: a object is not text'])
  expect(messages({ ...least, filters: [cycle] })).toEqual([expect.stringContaining('is not an operator')])
  expect(messages({ ...least, headers: cycle })).toEqual([expect.stringContaining('headers.self: is neither text')])
})

test('a subscription may read the dead-letter topic only when its own dead letters go elsewhere', () => {
  const onDeadLetters = { ...least, topics: ['barnabas.dead-letter'] }
  const refusal =
    `topics[0]: "barnabas.dead-letter" is where this subscription's dead letters go; ` +
    'name another deadLetter.topic, or set deadLetter: none'
  expect(messages(onDeadLetters)).toEqual([refusal])
  expect(messages({ ...onDeadLetters, deadLetter: { topic: 'barnabas.dead-letter' } })).toEqual([refusal])
  expect(messages({ ...onDeadLetters, deadLetter: { topic: 'elsewhere' } })).toEqual([])
  expect(messages({ ...onDeadLetters, deadLetter: 'none' })).toEqual([])
})

test('a subscription may not dead-letter into a topic that it reads', () => {
  expect(messages({ ...least, deadLetter: { topic: 'orders' } })).toEqual([
    expect.stringContaining(`"orders" is where this subscription's dead letters go`),
  ])
})

test('unknown fields of a newer version are ignored with a warning where that is asked for', () => {
  const newer = { ...least, bananas: 1, retry: { colour: 'red', maxAttempts: 3 }, deadLetter: { smell: 1 } }
  const { subscription, written, warnings } = read(newer, { unknownFields: 'ignore-with-warning' })
  expect(warnings).toEqual([
    'retry.colour: is not a known field; it is ignored',
    'deadLetter.smell: is not a known field; it is ignored',
    'bananas: is not a known field; it is ignored',
  ])
  expect(subscription.retry.maxAttempts).toBe(3)
  expect(written).toEqual({ ...least, retry: { maxAttempts: 3 }, deadLetter: {} })
})

test('ignoring unknown fields mends nothing else', () => {
  const options = { unknownFields: 'ignore-with-warning' } as const
  expect(messages({ ...least, bananas: 1, order: 'kee' }, options)).toEqual([
    'order: "kee" is not known; one of none, key, partition (did you mean key?)',
  ])
  expect(messages({ ...least, filters: [{ bananas: 1 }] }, options)).toHaveLength(1)
})

test.each([1, 4, 30])('A9: %d attempts are within the limits of event-grid', (maxAttempts) => {
  expect(read({ ...least, retry: { maxAttempts } }).subscription.retry.maxAttempts).toBe(maxAttempts)
})

test.each(['1m', '60s', '24h', '1d', '1440m'])('A9: a time to live of %s is within the limits', (timeToLive) => {
  expect(messages({ ...least, retry: { timeToLive } })).toEqual([])
})

test.each([200, 201, 202, 203, 204])('A18: %d is a success, which no policy exempts', (status) => {
  expect(messages({ ...least, retry: { neverOn: [status] } })).toEqual([expect.stringContaining('is a success')])
})

test('any failure may be exempt from retries', () => {
  const { retry } = read({ ...least, retry: { neverOn: [100, 199, 205, 302, 404, 599] } }).subscription
  expect([...retry.neverOn]).toEqual([100, 199, 205, 302, 404, 599])
})

test('a list with repeat goes on until its limit', () => {
  const { retry } = read({ ...least, retry: { schedule: ['1s', '5s', 'repeat'], maxAttempts: 10 } }).subscription
  expect(retry).toMatchObject({ repeatLast: true, maxAttempts: 10, timeToLiveMs: null })
  expect(retry.delays.map(({ baseMs }) => baseMs)).toEqual([1_000, 5_000])
})

test('A4: an endpoint has its own table of statuses', () => {
  expect(read({ ...least, endpoint: 'azure' }).subscription.retry).toMatchObject({
    endpoint: 'azure',
    neverOn: new Set([400, 403, 410, 413]),
  })
  expect(messages({ ...least, endpoint: 'Azure' })).toEqual([
    'endpoint: "Azure" is not known; one of webhook, azure (did you mean azure?)',
  ])
})

test.each(['none', 'event-grid', 'cloudevents'] as const)('handshake: %s', (handshake) => {
  expect(read({ ...least, handshake }).subscription.handshake).toBe(handshake)
})

test('a handshake of another kind is refused', () => {
  expect(messages({ ...least, handshake: 'event_grid' })).toEqual([
    'handshake: "event_grid" is not known; one of none, event-grid, cloudevents (did you mean event-grid?)',
  ])
})
