/** Rows B4, D1, D2, D3, D4 under fire, in small; `pnpm chaos` does more of it (docs/reliability.md). */
import { canRunOwnBroker } from '../support/start.ts'
import { describe, expect, test } from 'vitest'
import { keepRun } from './keep.ts'
import { faultKinds, planOf } from './plan.ts'
import { runChaos } from './run.ts'
import type { ChaosOptions } from './run.ts'

const say = (line: string): void => console.log(line)
const small = {
  seed: 20_261_201,
  subscriptions: 4,
  batched: 2,
  dispatchers: 2,
  retriers: 2,
  say,
} satisfies Partial<ChaosOptions>
const ordered = { order: 'key', ordered: 1 } satisfies Partial<ChaosOptions>

test('the plan follows from the seed, and every kind of fault has its turn', () => {
  const plan = planOf(7, 20)
  expect(planOf(7, 20)).toEqual(plan)
  expect(planOf(8, 20)).not.toEqual(plan)
  expect(new Set(plan.slice(0, faultKinds.length).map(({ kind }) => kind))).toEqual(new Set(faultKinds))
})

describe.skipIf(!(await canRunOwnBroker()))('on a broker of its own', () => {
  test('20,000 events and 6 faults: nothing is lost, counted twice, early, above its maximum or out of its order', async () => {
    console.log(`seed ${small.seed}`)
    const result = await runChaos({ ...small, ...ordered, events: 20_000, faults: 6 })
    console.log(JSON.stringify(result.summary))
    expect(result.summary.sharedAttempts).toBeGreaterThan(0)
    expect(result.summary.orderedEvents).toBe(5_000)
    const kept = result.violations.length === 0 ? 'nothing' : await keepRun('.chaos', small.seed, result)
    expect(result.violations.slice(0, 20), `the ledger and the logs of the services: ${kept}`).toEqual([])
  }, 240_000)

  test.each([
    { kind: 'drops', rule: 'lost', events: 1_000, faults: 0 },
    { kind: 'resets', rule: 'extra', events: 4_000, faults: 1 },
    { kind: 'doubles', rule: 'extra', events: 1_000, faults: 0 },
    { kind: 'unordered', rule: 'order', events: 1_000, faults: 0 },
  ])(
    'an engine of the kind "$kind" is found out',
    async ({ kind, rule, events, faults }) => {
      const sabotage = new URL(`./sabotage.ts?kind=${kind}`, import.meta.url).href
      const { violations } = await runChaos({
        ...small,
        ...(rule === 'order' ? ordered : {}),
        events,
        faults,
        kinds: ['kill-retrier'],
        accountedWithinMs: 8_000,
        env: { NODE_OPTIONS: `--import=${sabotage}` },
      })
      expect(violations.map((violation) => violation.rule)).toContain(rule)
    },
    120_000,
  )
})
