import { expect, test } from 'vitest'
import { createHealth, type HealthCheck } from './health.ts'

const check = (ready: boolean, live: boolean): HealthCheck => ({ ready, live, detail: 'because' })

test.each<[string, Record<string, HealthCheck>, { live: boolean; ready: boolean }]>([
  ['nothing told yet', {}, { live: true, ready: false }],
  ['all well', { kafka: check(true, true), http: check(true, true) }, { live: true, ready: true }],
  ['one not ready', { kafka: check(false, true), http: check(true, true) }, { live: true, ready: false }],
  ['one not live', { kafka: check(true, false), http: check(true, true) }, { live: false, ready: false }],
])('%s', (_name, checks, expected) => {
  const health = createHealth()
  for (const [name, state] of Object.entries(checks)) health.set(name, state)
  expect(health.live()).toEqual({ isOk: expected.live, checks })
  expect(health.ready()).toEqual({ isOk: expected.ready, checks })
})

test('the last state told holds, and a removed check counts no more', () => {
  const health = createHealth()
  health.set('kafka', check(true, true))
  health.set('retrier', check(true, true))
  health.set('retrier', check(false, false))
  expect(health.live().isOk).toBe(false)
  health.remove('retrier')
  expect(health.live()).toEqual({ isOk: true, checks: { kafka: check(true, true) } })
})
