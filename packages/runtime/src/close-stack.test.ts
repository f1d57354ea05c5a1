import { afterEach, expect, test, vi } from 'vitest'
import { createCloseStack } from './close-stack.ts'

const silent = { debug: () => {}, error: () => {} }

afterEach(() => {
  vi.useRealTimers()
})

test('closes one after another, last opened first', async () => {
  const events: string[] = []
  const stack = createCloseStack(silent)
  for (const name of ['broker', 'producer', 'consumer'])
    stack.add(name, async () => {
      events.push(`${name} begins`)
      await Promise.resolve()
      events.push(`${name} ends`)
    })
  expect(await stack.closeAll()).toEqual([])
  expect(events).toEqual([
    'consumer begins',
    'consumer ends',
    'producer begins',
    'producer ends',
    'broker begins',
    'broker ends',
  ])
})

test('goes on when one rejects, throws or hangs, names them and logs why', async () => {
  vi.useFakeTimers()
  const closed: string[] = []
  const errors: object[] = []
  const rejection = new Error('refused')
  const stack = createCloseStack({ debug: () => {}, error: (fields) => void errors.push(fields) })
  stack.add('first', () => void closed.push('first'))
  stack.add('rejects', () => Promise.reject(rejection))
  stack.add('throws', () => {
    throw rejection
  })
  stack.add('hangs', () => new Promise(() => {}), { limitMs: 200 })
  stack.add('last', () => void closed.push('last'))
  const closing = stack.closeAll()
  await vi.advanceTimersByTimeAsync(199)
  expect(closed).toEqual(['last'])
  await vi.advanceTimersByTimeAsync(1)
  expect(await closing).toEqual(['hangs', 'throws', 'rejects'])
  expect(closed).toEqual(['last', 'first'])
  expect(errors).toEqual([
    { part: 'hangs', limitMs: 200 },
    { part: 'throws', err: rejection },
    { part: 'rejects', err: rejection },
  ])
  expect(vi.getTimerCount()).toBe(0)
})

test('without a limit of its own a closer has five seconds', async () => {
  vi.useFakeTimers()
  const stack = createCloseStack(silent)
  stack.add('hangs', () => new Promise(() => {}))
  const closing = stack.closeAll()
  let isDone = false
  void closing.then(() => (isDone = true))
  await vi.advanceTimersByTimeAsync(4_999)
  expect(isDone).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(await closing).toEqual(['hangs'])
})

test('once one did not close in time, those without a limit of their own have a second', async () => {
  vi.useFakeTimers()
  const stack = createCloseStack(silent)
  stack.add('own limit', () => new Promise(() => {}), { limitMs: 3_000 })
  stack.add('hangs too', () => new Promise(() => {}))
  stack.add('rejects', () => Promise.reject(new Error('refused')))
  stack.add('hangs', () => new Promise(() => {}))
  const closing = stack.closeAll()
  let isDone = false
  void closing.then(() => (isDone = true))
  await vi.advanceTimersByTimeAsync(5_000 + 1_000 + 3_000 - 1)
  expect(isDone).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(await closing).toEqual(['hangs', 'rejects', 'hangs too', 'own limit'])
})

test('closes once, however often it is asked', async () => {
  let times = 0
  const stack = createCloseStack(silent)
  stack.add('once', () => void (times += 1))
  await Promise.all([stack.closeAll(), stack.closeAll()])
  await stack.closeAll()
  expect(times).toBe(1)
})

test('what is opened while closing is closed too, and what is opened afterwards at once', async () => {
  const closed: string[] = []
  const stack = createCloseStack(silent)
  stack.add('first', () => void closed.push('first'))
  stack.add('slow', () => {
    stack.add('opened meanwhile', () => void closed.push('opened meanwhile'))
  })
  await stack.closeAll()
  expect(closed).toEqual(['opened meanwhile', 'first'])
  stack.add('late', () => void closed.push('late'))
  expect(closed).toEqual(['opened meanwhile', 'first', 'late'])
})
