import {
  formatDuration,
  knownFields,
  parseSubscription,
  retryLimitsOf,
  retryPresets,
  subscriptionStatuses,
} from '@barnabas/core'
import {
  inFlightBytesMax,
  ownShareBytes,
  readBytesMax,
  retryBytesMax,
  tierLanesBytesMax,
  waitingBytesMax,
  waitingRecordsMax,
  waitingRetriesMax,
  waitingRetryBytesMax,
} from '@barnabas/delivery'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { codeBlocks, codeSpans, differences, onlyKeys, page, rowsOf, tableOf } from './markdown.ts'
import type { Row } from './markdown.ts'

/** Every table of docs/subscriptions.md that says what the code says too. A missing, extra or different row fails and is named. */
const subscriptions = page('docs/subscriptions.md')
const minimal = { id: 'orders-to-billing', topics: ['orders'], sink: 'https://billing.example.com/hook' }
const below = (field: string) => knownFields([field]).map((name) => `${field}.${name}`)
const inParts = ['batch', 'retry']
const fields = [
  ...knownFields([]).filter((name) => !inParts.includes(name)),
  ...inParts.flatMap(below),
  ...below('probation'),
  ...below('deadLetter'),
]

test('fields', () => {
  expect(differences('fields', tableOf(subscriptions, 'Fields'), onlyKeys(fields))).toBe('')
})

test('limits', () => {
  const megabytes = (bytes: number) => `${bytes / 1024 / 1024}MB`
  const waiting = (records: number, bytes: number) => `${records} events or ${megabytes(bytes)}`
  const limits = new Map<string, Row>(
    Object.entries({
      'attempts in flight': '`concurrency`',
      'bytes in flight': `${megabytes(inFlightBytesMax)}, or one larger event`,
      connections: '`concurrency`, for all kinds together',
      'waiting for a place': waiting(waitingRecordsMax, waitingBytesMax),
      'due retries, waiting': waiting(waitingRetriesMax, waitingRetryBytesMax),
    }).map(([name, limit]) => [name, { 'of one subscription': limit }]),
  )
  expect(differences('limits', tableOf(subscriptions, 'Limits'), limits)).toBe('')
  const together = new Map<string, Row>(
    Object.entries({
      'read and not finished': `${megabytes(readBytesMax)}, and ${ownShareBytes / 1024}KB of each subscription`,
      'due retries in hand': megabytes(retryBytesMax),
      'due within a second or five': megabytes(tierLanesBytesMax),
    }).map(([name, limit]) => [name, { 'of all subscriptions': limit }]),
  )
  expect(differences('limits of a process', tableOf(subscriptions, 'Limits', 2), together)).toBe('')
})

test('every field is in the example with all defaults, which means the same as the required ones alone', () => {
  const text = yamlBlocks(subscriptions, 'Everything, with its defaults')[0]
  const written = parse(text ?? '') as Record<string, unknown>
  expect(Object.keys(written).toSorted()).toEqual(knownFields([]).toSorted())
  expect(subscriptionOf(written)).toEqual(subscriptionOf(minimal))
})

test('defaults in the table are those of the example', () => {
  const text = yamlBlocks(subscriptions, 'Everything, with its defaults')[0]
  const written = parse(text ?? '') as Record<string, unknown>
  for (const [field, row] of tableOf(subscriptions, 'Fields')) {
    const [code, ...others] = codeSpans(row['default'] ?? '')
    if (code === undefined || field.includes('retry.')) continue
    const value = field.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], written)
    expect(parse(code), `${field} ${others.join()}`).toEqual(value)
  }
})

test.each(yamlBlocks(subscriptions))('the example %# validates', (text) => {
  expect(parseSubscription(parse(text))).toMatchObject({ kind: 'valid', warnings: [] })
})

test('limits of retry policies', () => {
  const presets = rowsOf([...retryPresets], String, (schedule) => limitsRow(retryLimitsOf(schedule)))
  const list = limitsRow(retryLimitsOf({ delaysMs: [1, 2], repeatLast: false }), '(n + 1)')
  const repeat = limitsRow(retryLimitsOf({ delaysMs: [1_000], repeatLast: true }))
  const actual = new Map([...presets, ['a list of n delays', list], ['a list with repeat', repeat]])
  expect(differences('limits', tableOf(subscriptions, 'Retry policy'), actual)).toBe('')
})

test('operators of filters', () => {
  const operators = tableOf(subscriptions, 'Filters')
  const refused = parseSubscription({ ...minimal, filters: [{}] })
  const allowed = refused.kind === 'invalid' ? (refused.problems[0]?.message.split(': ').at(-1) ?? '') : ''
  expect(differences('operators', operators, onlyKeys(allowed.split(', ')))).toBe('')
})

test('statuses', () => {
  expect(differences('statuses', tableOf(subscriptions, 'Status'), onlyKeys(subscriptionStatuses))).toBe('')
})

test.each([...tableOf(subscriptions, 'Not in this version').keys()])('%s is refused by name', (written) => {
  const refused = parseSubscription({ ...minimal, ...(parse(written) as Record<string, unknown>) })
  expect(refused).toMatchObject({
    kind: 'invalid',
    problems: [{ message: expect.stringContaining('not available in this version') as string }],
  })
})

test('every word and field of a later version stands in the list', () => {
  const listed = [...tableOf(subscriptions, 'Not in this version').keys()].map((written) => written.split(':')[0])
  const onlyDefault = [...tableOf(subscriptions, 'Fields')].filter(([, row]) =>
    row['meaning and limits']?.includes('in this version'),
  )
  expect(onlyDefault.map(([field]) => field.split('.')[0]).filter((field) => !listed.includes(field))).toEqual([])
})

function limitsRow(limits: ReturnType<typeof retryLimitsOf>, attempts = limits.maxAttempts.toLocaleString('en')): Row {
  const [min, max] = [limits.timeToLiveMinMs, limits.timeToLiveMaxMs]
  return { maxAttempts: `1–${attempts}`, timeToLive: `\`${formatDuration(min)}\`–\`${formatDuration(max)}\`` }
}

function subscriptionOf(written: unknown) {
  const parsed = parseSubscription(written)
  return parsed.kind === 'valid' ? parsed.subscription : parsed.problems
}

function yamlBlocks(markdown: string, fromHeading?: string): readonly string[] {
  return codeBlocks(markdown, fromHeading).flatMap(({ language, text }) => (language === 'yaml' ? [text] : []))
}
