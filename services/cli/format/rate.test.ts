import { nextStatus, retryPolicyOf } from '@barnabas/core'
import type { Handshake, Subscription } from '@barnabas/core'
import { expect, test } from 'vitest'
import { rateText, shownRate } from './rate.ts'

const perSecond = (requests: number): Subscription['rate'] => ({ tokensPerMs: requests / 1_000, tokensMax: 1 })
const agreed: Handshake = {
  kind: 'succeeded',
  form: 'cloudevents',
  revision: 2,
  validation: null,
  at: '2026-01-01T00:00:00.000Z',
  allowedRate: 120,
}

function shown(rate: Subscription['rate'], handshake: Handshake | null, revision = 2) {
  const status = nextStatus('a', null, {
    status: 'Running',
    reason: '',
    generation: 1,
    revision,
    ...(handshake === null ? {} : { handshake }),
    now: 0,
  })
  const retry = retryPolicyOf({ schedule: 'backoff' }, 1)
  return shownRate({ rate, handshake: 'cloudevents', revision, generation: 1, retry }, status)
}

test.each([
  [null, null, undefined, 'not limited'],
  [perSecond(100), null, '100/s', '100/s, of all processes together'],
  [null, agreed, undefined, '120/min, which the receiver allows, of all processes together'],
  [
    perSecond(100),
    agreed,
    '100/s',
    '120/min, of all processes together: the receiver allows 120/min, the subscription 100/s',
  ],
  [perSecond(1), agreed, '1/s', '60/min, of all processes together: the receiver allows 120/min, the subscription 1/s'],
  [perSecond(1), { ...agreed, allowedRate: null }, '1/s', '1/s, of all processes together'],
] as const)('%j with %j is %s: %s', (rate, handshake, written, text) => {
  expect(rateText(shown(rate, handshake), written)).toBe(text)
})

test('what another revision was allowed counts no more', () => {
  expect(shown(perSecond(100), agreed, 3)).toEqual({ own: 6_000, allowed: null, inForce: 6_000 })
  expect(shown(perSecond(100), agreed)).toEqual({ own: 6_000, allowed: 120, inForce: 120 })
})
