import { expect, test } from 'vitest'
import { createHeldForRate } from './held-for-rate.ts'

test.each([
  ['without a rate nobody is asked', false, true, false, false],
  ['with a topic to hold it', true, true, false, true],
  ['with a topic to hold it, though nothing waits here', true, true, true, true],
  ['without one: the first waits here', true, false, false, false],
  ['without one, and one waits: parked again', true, false, true, true],
])('%s', async (_what, isLimited, may, isWaiting, isHeld) => {
  const asked: string[] = []
  const isHeldForRate = createHeldForRate({
    isLimited: () => isLimited,
    async mayHold(id) {
      asked.push(id)
      return may
    },
    isWaiting: () => isWaiting,
  })
  expect(await isHeldForRate({ id: 'orders' })).toBe(isHeld)
  expect(asked).toEqual(isLimited ? ['orders'] : [])
})
