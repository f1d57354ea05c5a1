import { expect, test } from 'vitest'
import { afterAddress, forbiddenText } from './forbidden-streak.ts'
import type { ForbiddenStreak } from './forbidden-streak.ts'

const forbidden = { outcome: 'ResolutionError', forbiddenAddress: true } as const
const unresolved = { outcome: 'ResolutionError' } as const
const delivered = { outcome: 'Delivered' } as const
const canceled = { outcome: 'Canceled' } as const
const first = { generation: 1, revision: 1 }
const changed = { generation: 1, revision: 2 }
const again = { generation: 2, revision: 1 }

test.each([
  ['forbidden ones', [forbidden, forbidden, forbidden], [1, 2, 3]],
  ['a success ends it', [forbidden, delivered, forbidden], [1, undefined, 1]],
  ['a name that does not resolve is no forbidden address', [forbidden, unresolved, forbidden], [1, undefined, 1]],
  ['what we cut off says nothing', [forbidden, canceled, forbidden], [1, 1, 2]],
  ['none', [delivered, canceled], [undefined, undefined]],
] as const)('%s', (_what, results, counts) => {
  let streak: ForbiddenStreak | null = null
  const seen = results.map((result) => {
    streak = afterAddress(streak, first, result)
    return streak?.attempts
  })
  expect(seen).toEqual(counts)
})

test('another revision and another life begin anew', () => {
  const three = { ...first, attempts: 3 }
  expect(afterAddress(three, changed, forbidden)).toEqual({ ...changed, attempts: 1 })
  expect(afterAddress(three, again, forbidden)).toEqual({ ...again, attempts: 1 })
  expect(afterAddress(three, changed, canceled)).toBeNull()
})

test('the reason names the field as its notation calls it', () => {
  const error = 'hook.internal resolves to a forbidden address: 10.1.2.3 is a private address; allow it with X'
  expect(forbiddenText({ id: 'orders', notation: 'barnabas' }, error)).toBe(
    `sink: ${error}; so 10 attempts in a row have failed. Mend it, then say \`barnabas start orders\``,
  )
  for (const notation of ['event-grid', 'event-grid-kubernetes'] as const) {
    expect(forbiddenText({ id: 'orders', notation }, error)).toMatch(/^endpointUrl: hook\.internal resolves/)
  }
})
