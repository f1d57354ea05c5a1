import { expect, test } from 'vitest'
import { parseSubscription } from './parse-subscription.ts'
import { probationDefaults, probationPolicyOf } from './probation-policy.ts'

const least = { id: 'orders', topics: ['orders'], sink: 'https://example.com/' }
const probationOf = (probation: unknown, timeScale = 1) => {
  const parsed = parseSubscription({ ...least, probation }, { timeScale })
  return parsed.kind === 'valid' ? parsed.subscription.probation : parsed.problems.map(({ message }) => message)
}

test('A12, A17: left out, empty or written out, it means the defaults', () => {
  const defaults = probationPolicyOf({}, 1)
  const all = {
    after: 10,
    steps: ['10s', '1m', '5m', '15m', '60m', '3h'],
    lengths: {
      Busy: '10s',
      NotFound: '5m',
      SocketError: '30s',
      ResolutionError: '5m',
      TimedOut: '10s',
      Unauthorized: '5m',
      Forbidden: '5m',
    },
    clientErrors: ['Unauthorized', 'Forbidden', 'BadRequest', 'PayloadTooLarge'],
  }
  for (const written of [undefined, {}, { after: 10 }, all]) expect(probationOf(written)).toEqual(defaults)
  expect(defaults.after).toBe(probationDefaults.after)
})

test('each of its fields is a setting, scaled like every duration; `none` switches it off', () => {
  expect(probationOf('none')).toBeNull()
  const own = probationOf(
    { after: 3, steps: ['2s', '20s'], lengths: { Busy: '4s', GenericError: '8s' }, clientErrors: [] },
    0.5,
  )
  expect(own).toMatchObject({
    after: 3,
    stepsMs: [1_000, 10_000],
    lengthsMs: { Busy: 2_000, GenericError: 4_000, NotFound: 150_000 },
    clientErrors: new Set(),
  })
})

test.each([
  ['often', 'probation: "often" is not a mapping of fields to values'],
  [{ after: 0 }, 'probation.after: 0 is not a whole number from 1 to 1000'],
  [{ after: 1_001 }, 'probation.after: 1001 is not a whole number from 1 to 1000'],
  [{ afer: 5 }, 'probation.afer: is not a known field (did you mean after?)'],
  [{ steps: [] }, 'probation.steps: is empty; name at least one, or switch probation off with probation: none'],
  [{ steps: ['1m', '10s'] }, 'probation.steps[1]: 10s is not longer than the step before it, 1m'],
  [{ steps: ['50ms'] }, 'probation.steps[0]: 50ms is not from 100ms to 1d'],
  [{ steps: ['2d'] }, 'probation.steps[0]: 2d is not from 100ms to 1d'],
  [
    { steps: Array.from({ length: 21 }, (_, index) => `${index + 1}s`) },
    'probation.steps: has 21 entries, more than 20',
  ],
  [{ steps: [10] }, 'probation.steps[0]: 10 is not a duration; a whole number with ms, s, m, h or d, such as 30s'],
  [{ lengths: ['10s'] }, 'probation.lengths: ["10s"] is not a mapping of outcomes to durations; write { Busy: 10s }'],
  [
    { lengths: { Busy: 'long' } },
    'probation.lengths.Busy: "long" is not a duration; a whole number with ms, s, m, h or d, such as 30s',
  ],
])('%j is refused by name', (written, message) => {
  expect(probationOf(written)).toEqual([message])
})

test('an outcome that causes none is refused, with those that do', () => {
  for (const written of [{ lengths: { Busi: '10s' } }, { clientErrors: ['Busi'] }]) {
    expect(probationOf(written)).toEqual([
      expect.stringMatching(
        /^probation\..*"Busi" is not an outcome that can cause it; one of BadRequest, .*\(did you mean Busy\?\)$/,
      ),
    ])
  }
  expect(probationOf({ clientErrors: ['Canceled'] })).toHaveLength(1)
})
