import {
  deadLetterReasons,
  deadLetterRecords,
  decodeRetryHeaders,
  deliveryHeaders,
  formatDuration,
  inMemoryRestMs,
  leavesTierAt,
  newDeliveryState,
  outcomeOfStatus,
  outcomes,
  parseDuration,
  retryPolicyOf,
  retryPresets,
  tierFor,
  tiers,
  verdictAfterAttempt,
} from '@barnabas/core'
import type { RetryPolicy, RetrySpec } from '@barnabas/core'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { differences, onlyKeys, page, plain, rowsOf, tableOf } from './markdown.ts'
import type { Row } from './markdown.ts'

/** Every table of docs/delivery.md that says what the code says too. A missing, extra or different row fails and is named. */
const delivery = page('docs/delivery.md')

test('headers', () => {
  const words = { required: 'always', optional: 'if known', never: '–' }
  const always = ['barnabas-dead-letter-reason', 'barnabas-dead-letter-time']
  const actual = rowsOf(
    Object.entries(deliveryHeaders),
    ([name]) => name,
    ([name, { retry, deadLetter }]) => ({
      'retry record': words[retry],
      'dead letter': deadLetter ? (always.includes(name) ? 'always' : 'if known') : '–',
    }),
  )
  expect(differences('headers', tableOf(delivery, 'Headers', 1), actual)).toBe('')
})

test('extension attributes of a dead letter, and which headers say the same', () => {
  const state = {
    ...newDeliveryState({ id: 'a', generation: 1 }, { topic: 't', partition: 0, offset: 0 }, 1_000),
    attempts: 3,
    lastAttemptTime: 2_000,
    lastOutcome: 'Busy' as const,
  }
  const headers = { ce_specversion: Buffer.from('1.0') }
  const [record] = deadLetterRecords({
    topic: 'd',
    key: null,
    value: null,
    headers,
    state,
    reason: 'TimeToLiveExceeded',
    time: 3_000,
  })
  const text = (name: string) => String(record.headers[name])
  const added = Object.keys(record.headers).filter((name) => name.startsWith('ce_') && !Object.hasOwn(headers, name))
  const table = tableOf(delivery, 'Headers', 2)
  expect(differences('attributes', table, onlyKeys(added))).toBe('')
  for (const [name, row] of table) expect(text(name), name).toBe(text(plain(row['is the same as'] ?? '')))
})

test('reasons', () => {
  const table = tableOf(delivery, 'Reasons of dead letters')
  expect(differences('reasons', table, onlyKeys(deadLetterReasons))).toBe('')
})

test('reasons that come from a status', () => {
  for (const [reason, row] of tableOf(delivery, 'Reasons of dead letters')) {
    const status = /^(\d{3}), with \1 in/.exec(row['when'] ?? '')?.[1]
    expect(status !== undefined, reason).toBe(/^UndeliverableDueToHttp(?!Status)/.test(reason))
    if (status !== undefined) expect(verdictOf(Number(status), 1, [Number(status)])).toMatchObject({ reason })
  }
  expect(verdictOf(418, 1, [418])).toMatchObject({ reason: 'UndeliverableDueToHttpStatus' })
})

test('outcomes of every status from 100 to 599', () => {
  const outcomeByStatus = new Map<number, string>()
  let other = ''
  for (const [statuses, { outcome = '' }] of tableOf(delivery, 'Outcomes', 1)) {
    if (statuses === 'any other') other = plain(outcome)
    for (const status of statusesOf(statuses)) outcomeByStatus.set(status, plain(outcome))
  }
  for (let status = 100; status <= 599; status += 1) {
    expect(outcomeByStatus.get(status) ?? other, String(status)).toBe(outcomeOfStatus(status))
  }
})

test('outcomes, none missing and none unknown', () => {
  const named = [1, 2].flatMap((number) => [...tableOf(delivery, 'Outcomes', number).values()])
  const documented = onlyKeys(named.map((row) => plain(row['outcome'] ?? '')))
  expect(differences('outcomes', documented, onlyKeys(outcomes))).toBe('')
})

test('tiers', () => {
  const actual = rowsOf(
    tiers,
    ({ name }) => `barnabas.retry.${name}`,
    ({ name, delayMs }) => ({ delay: delayMs === 0 ? '0s' : name }),
  )
  expect(differences('tiers', tableOf(delivery, 'Tiers', 1), actual)).toBe('')
})

test('how waits are composed of tiers', () => {
  const table = tableOf(delivery, 'Tiers', 2)
  const actual = rowsOf([...table.keys()], String, composed)
  expect(differences('waits', table, actual)).toBe('')
})

test.each([...tableOf(delivery, 'Schedules', 1).keys()])('schedule %s', (schedule) => {
  const row = tableOf(delivery, 'Schedules', 1).get(schedule)
  expect(row).toMatchObject(scheduleRow(schedule))
})

test('every preset has its schedule', () => {
  const lists = [...tableOf(delivery, 'Schedules', 1).keys()].filter((schedule) => schedule.startsWith('['))
  const actual = onlyKeys([...retryPresets, ...lists])
  expect(differences('schedules', tableOf(delivery, 'Schedules', 1), actual)).toBe('')
})

test('minimum waits by status', () => {
  const table = tableOf(delivery, 'Schedules', 2)
  const waitOf = (status: number) => {
    const verdict = verdictOf(status, 1, [])
    return 'dueAt' in verdict ? formatDuration(verdict.dueAt) : verdict.kind
  }
  const statuses = Array.from({ length: 300 }, (_, index) => 300 + index)
  const other = table.get('any other')?.['at least']
  for (const status of statuses) {
    expect(waitOf(status), String(status)).toBe(table.get(String(status))?.['at least'] ?? other)
  }
})

test('a retry record without a header that is always there is damaged', () => {
  const read = decodeRetryHeaders({})
  const missing = read.kind === 'malformed' ? read.message : ''
  for (const [name, row] of tableOf(delivery, 'Headers', 1)) {
    expect(missing.includes(`${name} is missing`), name).toBe(row['retry record'] === 'always')
  }
})

/** The verdict right after an attempt of `event-grid` that ended at 0, without randomness. */
function verdictOf(status: number, attempts: number, neverOn: readonly number[]) {
  const result = { outcome: outcomeOfStatus(status), status, error: null, responseBody: null, startedAt: 0, endedAt: 0 }
  const handling = { faultTolerance: 'allowed', order: 'none', deadLettering: true } as const
  return verdictAfterAttempt(result, attempts, retryPolicyOf({ schedule: 'event-grid', neverOn }, 1), handling, 0)
}

/** `404, 410` and `200–204`; nothing for words. */
function statusesOf(text: string): readonly number[] {
  return text.split(', ').flatMap((part) => {
    const [, from, to = from] = /^(\d{3})(?:–(\d{3}))?$/.exec(part) ?? []
    if (from === undefined) return []
    return Array.from({ length: Number(to) - Number(from) + 1 }, (_, index) => Number(from) + index)
  })
}

/** The way of a wait through the tiers, each left exactly when its delay is over. */
function composed(wait: string): Row {
  const dueAt = parseDuration(wait) ?? Number.NaN
  const through: string[] = []
  let now = 0
  do {
    const tier = tierFor(dueAt - now, tiers, 1)
    through.push(`\`${tier.name}\``)
    now = leavesTierAt(dueAt, now, tier, 1)
  } while (dueAt - now > inMemoryRestMs)
  return { 'tiers, one after the other': through.join(', '), 'rest in memory': formatDuration(dueAt - now) }
}

function scheduleRow(schedule: string): Row {
  const policy = retryPolicyOf(specOf(schedule), 1)
  const last = policy.delays.at(-1)
  const isOpen = policy.maxAttempts === Number.MAX_SAFE_INTEGER
  const { timeToLiveMs } = policy
  return {
    delays: delaysText(policy),
    afterwards: policy.repeatLast && last !== undefined ? `${formatDuration(last.baseMs)} again` : 'ends',
    'at random, added': randomText(policy),
    maxAttempts: isOpen ? 'as set' : String(policy.maxAttempts),
    timeToLive: isOpen ? 'as set' : timeToLiveMs === null ? 'none' : formatDuration(timeToLiveMs),
    neverOn: [...policy.neverOn].join(', ') || 'none',
    'minimum waits': policy.minimumWaits ? 'yes' : 'no',
  }
}

function specOf(schedule: string): RetrySpec {
  const preset = retryPresets.find((name) => name === schedule)
  if (preset !== undefined) return { schedule: preset }
  const entries = parse(schedule) as readonly string[]
  const delaysMs = entries.filter((entry) => entry !== 'repeat').map((entry) => parseDuration(entry) ?? Number.NaN)
  return { schedule: { delaysMs, repeatLast: entries.includes('repeat') } }
}

/** `1s, 2s, 167 × 512s`. */
function delaysText({ delays }: RetryPolicy): string {
  const runs: { delayMs: number; length: number }[] = []
  for (const { baseMs } of delays) {
    const run = runs.at(-1)
    if (run?.delayMs === baseMs) run.length += 1
    else runs.push({ delayMs: baseMs, length: 1 })
  }
  return runs.map(({ delayMs, length }) => `${length > 1 ? `${length} × ` : ''}${formatDuration(delayMs)}`).join(', ')
}

function randomText({ delays }: RetryPolicy): string {
  const spreads = new Set(delays.map(({ spreadMs }) => spreadMs))
  if (spreads.size === 1) return spreads.has(0) ? 'none' : `up to ${formatDuration([...spreads][0] ?? 0)}`
  const longest = Math.max(...spreads)
  const isTenth = delays.every(({ baseMs, spreadMs }) => spreadMs === Math.min(baseMs / 10, longest))
  return isTenth ? `up to 10 % of the delay, at most ${formatDuration(longest)}` : 'something else'
}
