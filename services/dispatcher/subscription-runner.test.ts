import { parseSubscription } from '@barnabas/core'
import type { Subscription } from '@barnabas/core'
import { expect, test, vi } from 'vitest'
import type { RunningSubscription } from './running-subscription.ts'
import { createSubscriptionRunner } from './subscription-runner.ts'
import type { SubscriptionRunnerOptions } from './subscription-runner.ts'

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

function subscription(topics: readonly string[], revision = 1): Subscription {
  const parsed = parseSubscription(
    { id: 'one', topics, sink: 'https://example.com/' },
    { prefix: 'barnabas', timeScale: 1 },
  )
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.problems))
  return { ...parsed.subscription, generation: 1, revision }
}

/** A runner that writes down what it does; a join waits until `joins` says how it ends. */
function recorded(overrides: Partial<SubscriptionRunnerOptions> = {}, isLeader = () => true) {
  const steps: string[] = []
  const heard: string[] = []
  const handle = (name: string): RunningSubscription => ({
    statusChanged: () => void heard.push('status'),
    inPlaceChanged: () => void heard.push('in place'),
    resolved: () => void heard.push('resolution'),
    replace: ({ revision }) => void steps.push(`${name} replaced by revision ${revision}`),
    stop: ({ drainMs }) => {
      steps.push(`${name} stopped within ${drainMs}`)
      return Promise.resolve()
    },
    lastHeartbeatAt: 7,
    isLeader: isLeader(),
  })
  const runner = createSubscriptionRunner({
    id: 'one',
    drainTimeoutMs: 25,
    logger,
    problemOf: () => Promise.resolve(null),
    onProblem: (_, problem) => void steps.push(`problem: ${problem}`),
    join: ({ topics }) => {
      steps.push(`join ${topics.join()}`)
      return Promise.resolve(handle(topics.join()))
    },
    onStarting: () => void steps.push('starting'),
    onFailed: ({ reason }) => {
      steps.push(`failed: ${reason}`)
      return Promise.resolve()
    },
    onDeleted: () => {
      steps.push('deleted')
      return Promise.resolve()
    },
    onLifeOver: ({ generation }) => void steps.push(`life ${generation} is over`),
    ...overrides,
  })
  return { runner, steps, heard, handle }
}

const failing = { kind: 'fail', reason: 'no topic', generation: 1, revision: 1, missing: ['a'] } as const

test('goes from wish to wish: joins once for the same topics, leaves for others, for new ones of the same name, for a failure and for good', async () => {
  const { runner, steps } = recorded()
  runner.update({ kind: 'run', subscription: subscription(['a']), topicLives: '1' })
  await runner.settled()
  expect(runner.lastHeartbeatAt).toBe(7)
  for (const wish of [
    { kind: 'run', subscription: subscription(['a'], 2), topicLives: '1' },
    { kind: 'run', subscription: subscription(['b'], 3), topicLives: '1' },
    { kind: 'run', subscription: subscription(['b'], 3), topicLives: '2' },
    failing,
    { kind: 'delete' },
  ] as const) {
    runner.update(wish)
    await runner.settled()
  }
  await runner.close(1)
  expect(steps).toEqual([
    'starting',
    'join a',
    'a replaced by revision 2',
    'a stopped within 25',
    'starting',
    'join b',
    'b stopped within 25',
    'starting',
    'join b',
    'b stopped within 25',
    'failed: no topic',
    'deleted',
  ])
  expect(runner.lastHeartbeatAt).toBe(Infinity)
})

test.each([
  ['deleted', { kind: 'delete' }, true, ['life 1 is over', 'a stopped within 25', 'deleted']],
  ['deleted, and another process leads', { kind: 'delete' }, false, ['a stopped within 25', 'deleted']],
  [
    'made anew under its id',
    { kind: 'run', subscription: { ...subscription(['a']), generation: 2 }, topicLives: '1' },
    true,
    ['life 1 is over', 'a stopped within 25', 'starting', 'join a'],
  ],
  ['ended by a failure', failing, true, ['a stopped within 25', 'failed: no topic']],
] as const)('who leads is told when a life is over: %s', async (_what, wish, isLeader, expected) => {
  const { runner, steps } = recorded({}, () => isLeader)
  runner.update({ kind: 'run', subscription: subscription(['a']), topicLives: '1' })
  await runner.settled()
  steps.length = 0
  runner.update(wish)
  await runner.settled()
  expect(steps).toEqual(expected)
})

test('what is wrong with a sink is asked once for each wish, and such a revision is neither joined for nor taken up', async () => {
  const asked: number[] = []
  const problemOf = ({ revision }: Subscription) => {
    asked.push(revision)
    return Promise.resolve(revision === 2 ? null : 'no such topic')
  }
  const { runner, steps } = recorded({ problemOf })
  for (const revision of [1, 2, 3]) {
    runner.update({ kind: 'run', subscription: subscription(['a'], revision), topicLives: '1' })
    await runner.settled()
  }
  expect(steps).toEqual(['problem: no such topic', 'starting', 'join a', 'problem: no such topic'])
  expect(asked).toEqual([1, 2, 3])
  runner.update(failing)
  await runner.settled()
  expect(steps.slice(4)).toEqual(['a stopped within 25', 'failed: no topic'])
})

test('a join that fails is tried again, and a close does not wait for the next try', async () => {
  vi.useFakeTimers()
  try {
    const join = vi.fn<SubscriptionRunnerOptions['join']>().mockRejectedValue(new Error('no broker'))
    const { runner } = recorded({ join })
    runner.update({ kind: 'run', subscription: subscription(['a']), topicLives: '1' })
    await vi.advanceTimersByTimeAsync(2_000)
    expect(join).toHaveBeenCalledTimes(2)
    await runner.close(1)
    expect(vi.getTimerCount()).toBe(0)
    expect(join).toHaveBeenCalledTimes(2)
  } finally {
    vi.useRealTimers()
  }
})

test('a close does not wait for a join while no broker answers, and one that comes late is stopped', async () => {
  const joining = Promise.withResolvers<RunningSubscription>()
  const { runner, steps, handle } = recorded({ join: () => joining.promise })
  runner.update({ kind: 'run', subscription: subscription(['a']), topicLives: '1' })
  await vi.waitFor(() => expect(steps).toEqual(['starting']))
  await runner.close(1)
  joining.resolve(handle('late'))
  await vi.waitFor(() => expect(steps).toEqual(['starting', 'late stopped within 0']))
})

test('B5: what changes while it joins reaches it once it has joined', async () => {
  const joins = Promise.withResolvers<RunningSubscription>()
  const { runner, heard, handle } = recorded({ join: () => joins.promise })
  runner.update({ kind: 'run', subscription: subscription(['a']), topicLives: '1' })
  runner.statusChanged()
  runner.inPlaceChanged()
  runner.resolved()
  expect(heard).toEqual([])
  joins.resolve(handle('a'))
  await runner.settled()
  expect(heard).toEqual(['status', 'in place', 'resolution'])
})
