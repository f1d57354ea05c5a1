/** Whose turn it is where requests are limited, with the clock in the test's hand. */
import { parseSubscription } from '@barnabas/core'
import type { Rate } from '@barnabas/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRates } from './rates.ts'
import type { Rates } from './rates.ts'
import { createReadBudget } from './read-budget.ts'
import { createWindow } from './window.ts'

beforeEach(() => void vi.useFakeTimers({ now: 0 }))
afterEach(() => void vi.useRealTimers())

function rate(written: string): Rate {
  const parsed = parseSubscription({ id: 'a', topics: ['t'], sink: 'https://a.example/', rate: written })
  if (parsed.kind === 'invalid' || parsed.subscription.rate === null) throw new Error(written)
  return parsed.subscription.rate
}

/** Those who always want to make one more request, and when each made them. */
function hungry(rates: Rates, ids: Readonly<Record<string, string>>) {
  const made: string[] = []
  const lanes = Object.entries(ids).map(([name, id]) => {
    const lane = rates.lane(id, pump)
    function pump() {
      while (lane.take()) made.push(`${name} ${Date.now()}`)
    }
    pump()
    return lane
  })
  return { made, lanes }
}

const limited = (written: string) => createRates({ rateOf: () => rate(written), now: Date.now })
const countOf = (made: readonly string[], name: string) => made.filter((each) => each.startsWith(`${name} `)).length

test('a request at once, then one for each token, with one timer', async () => {
  const { made } = hungry(limited('4/s'), { a: 'one' })
  expect(vi.getTimerCount()).toBe(1)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(made).toEqual(['a 0', 'a 250', 'a 500', 'a 750', 'a 1000'])
})

test('those of one subscription take turns, those of two have a rate each', async () => {
  const rates = limited('100/s')
  const { made } = hungry(rates, { events: 'one', retries: 'one', other: 'two' })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(countOf(made, 'events')).toBeGreaterThanOrEqual(500)
  expect(Math.abs(countOf(made, 'events') - countOf(made, 'retries'))).toBeLessThanOrEqual(1)
  expect(countOf(made, 'events') + countOf(made, 'retries')).toBe(1_001)
  expect(countOf(made, 'other')).toBe(1_001)
})

test('who comes while others wait gets behind them, and whoever has no use for a turn leaves it to the next', async () => {
  const rates = limited('1/s')
  const made: string[] = []
  const never = rates.lane('one', () => made.push('asked'))
  expect([never.take(), never.take()]).toEqual([true, false])
  await vi.advanceTimersByTimeAsync(500)
  const lane = rates.lane('one', () => void (lane.take() && made.push('got')))
  expect(lane.take()).toBe(false)
  await vi.advanceTimersByTimeAsync(500)
  expect(made).toEqual(['asked', 'got'])
})

test('a rate that is changed or ended counts at once, and without one there are no timers', async () => {
  let present: Rate | null = rate('1/min')
  const rates = createRates({ rateOf: () => present, now: Date.now })
  const { made } = hungry(rates, { a: 'one' })
  await vi.advanceTimersByTimeAsync(30_000)
  expect(made).toEqual(['a 0'])
  present = rate('10/s')
  rates.changed('one')
  await vi.advanceTimersByTimeAsync(200)
  expect(made.length).toBeGreaterThanOrEqual(3)

  present = null
  const lane = rates.lane('one', () => made.push('unlimited'))
  expect(lane.take()).toBe(true)
  lane.close()
  const other = createRates({ rateOf: () => null, now: Date.now })
  expect(other.lane('one', () => {}).take()).toBe(true)
  expect(await other.turn('one', new AbortController().signal)).toBe(true)
  expect(other.isLimited('one')).toBe(false)
})

test('who waits while the limit ends goes on', async () => {
  let present: Rate | null = rate('1/min')
  const rates = createRates({ rateOf: () => present, now: Date.now })
  const made: string[] = []
  const lane = rates.lane('one', () => void (lane.take() && made.push('went on')))
  expect([lane.take(), lane.take()]).toEqual([true, false])
  present = null
  rates.changed('one')
  await vi.advanceTimersByTimeAsync(1)
  expect(made).toEqual(['went on'])
})

test('a process has its share by what it reads: nothing before it is known', async () => {
  const rates = limited('10/s')
  rates.owns('one', 'source', { own: 0, all: 0 })
  const { made } = hungry(rates, { a: 'one' })
  expect(made).toEqual(['a 0'])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(made).toEqual(['a 0'])
  rates.owns('one', 'source', { own: 1, all: 2 })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(made.length).toBe(51)
  rates.owns('one', 'held', { own: 0, all: 8 })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(made.length).toBe(91)
  rates.owns('one', 'source', null)
  await vi.advanceTimersByTimeAsync(10_000)
  expect(made.length).toBe(91)
})

test('a right of which nobody made use is there for the next', async () => {
  const rates = limited('1/min')
  const { made } = hungry(rates, { a: 'one' })
  rates.giveBack('one')
  await vi.advanceTimersByTimeAsync(1)
  expect(made).toHaveLength(2)
  rates.giveBack('nobody')
})

test('one more request has to wait for its turn, and a stop ends the wait', async () => {
  const rates = limited('1/s')
  const stop = new AbortController()
  expect(await rates.turn('one', stop.signal)).toBe(true)
  const got: (boolean | string)[] = []
  void rates.turn('one', stop.signal).then((each) => got.push(each))
  await vi.advanceTimersByTimeAsync(999)
  expect(got).toEqual([])
  await vi.advanceTimersByTimeAsync(1)
  expect(got).toEqual([true])
  const waits = rates.turn('one', stop.signal)
  stop.abort()
  expect([await waits, await rates.turn('one', stop.signal)]).toEqual([false, false])
})

test('a lane that is closed and an end leave no timer behind', () => {
  const rates = limited('1/s')
  const { lanes } = hungry(rates, { a: 'one' })
  for (const lane of lanes) lane.close()
  rates.close()
  expect(vi.getTimerCount()).toBe(0)
})

test('a window keeps what waits for its turn, and begins no task without one', async () => {
  const rates = limited('2/s')
  const freed = vi.fn()
  const budget = createReadBudget(1_000)
  const window = createWindow({
    limit: () => 64,
    bytesMax: 1_000,
    budget,
    onFreed: freed,
    lane: (onTurn) => rates.lane('one', onTurn),
  })
  const begun: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) window.run(async () => void begun.push(`${name} ${Date.now()}`), 10)
  expect([begun, window.waiting]).toEqual([['a 0'], 3])
  await vi.advanceTimersByTimeAsync(500)
  expect([begun, window.waiting]).toEqual([['a 0', 'b 500'], 2])
  expect(freed).toHaveBeenCalled()
  // What holds the window, a rejoin or a probation, uses no turn up.
  window.hold()
  await vi.advanceTimersByTimeAsync(60_000)
  window.open()
  await vi.advanceTimersByTimeAsync(1)
  expect([begun.slice(2), window.waiting]).toEqual([['c 60500'], 1])
  window.clear()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(begun).toHaveLength(3)
})

test('a batch takes one turn', async () => {
  const rates = limited('1/s')
  const window = createWindow({
    limit: () => 64,
    bytesMax: 1_000,
    budget: createReadBudget(1_000),
    lane: (onTurn) => rates.lane('one', onTurn),
  })
  const requests: string[] = []
  const batching = {
    limits: () => ({ maxEvents: 3, preferredBytes: 1_000 }),
    bytesOf: () => 1,
    begin: async (items: readonly string[]) => void requests.push(`${items.join('')} ${Date.now()}`),
  }
  for (const item of 'abcdefg') window.runTogether(batching, item, 10)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(requests).toEqual(['abc 0', 'def 1000', 'g 2000'])
})
