import type { StatusRecord } from '@barnabas/core'
import { expect, test } from 'vitest'
import { isSettled, reachedProblem, statusOfRevision, waitForStatuses } from './wait-for-status.ts'

const life = { generation: 5, revision: 2, startOffsets: {} }

function status(change: Partial<StatusRecord> = {}): StatusRecord {
  return {
    id: 'a',
    status: 'Running',
    reason: '',
    since: '2026-01-01T00:00:00.000Z',
    generation: 5,
    revision: 2,
    startedTopics: [],
    topicIds: {},
    skippedOffsets: 0,
    handshake: null,
    probation: null,
    parked: 0,
    blocked: [],
    started: null,
    paused: null,
    missedTopics: [],
    history: [],
    ...change,
  }
}

test.each([
  ['this revision', { revision: 2 }, true],
  ['one that somebody applied since', { revision: 3 }, true],
  ['the revision before', { revision: 1 }, false],
  ['a former life', { generation: 4 }, false],
])('a status of %s counts: %j %s', (_name, change, counts) => {
  expect(statusOfRevision(status(change), life) !== null).toBe(counts)
})

test.each([
  ['Running', false, true],
  ['Ready', false, true],
  ['Paused', false, true],
  ['Start Failed', false, true],
  // The topic that it misses was created a moment ago.
  ['Start Failed', true, false],
  ['Running', true, true],
  ['Starting', false, false],
] as const)('%s (a topic was just made: %s) stays: %s', (word, mayRecover, settled) => {
  expect(isSettled(status({ status: word }), mayRecover)).toBe(settled)
})

const pending = {
  form: 'event-grid',
  revision: 2,
  validation: 'ab'.repeat(32),
  url: 'https://barnabas.example/handshakes/a/b',
  since: '2026-01-01T00:00:00.000Z',
  until: '2026-01-01T00:10:00.000Z',
  problem: null,
} as const

test('whoever applies waits for a handshake that is tried, and not for somebody who is to call a URL', () => {
  const trying = { ...pending, kind: 'trying' } as const
  expect(isSettled(status({ status: 'Starting', handshake: trying }), false)).toBe(false)
  expect(isSettled(status({ status: 'Starting', handshake: { ...pending, kind: 'awaiting' } }), false)).toBe(true)
})

test.each([
  [status(), null],
  [status({ status: 'Paused' }), null],
  [status({ status: 'Start Failed', reason: 'topic x is missing' }), 'a: Start Failed: topic x is missing'],
  [status({ status: 'Starting', reason: 'joining' }), 'a: still Starting: joining; look at `barnabas get a -w`'],
  [null, expect.stringMatching(/^a: no dispatcher answers; it is stored/)],
])('%j: %s', (reached, problem) => {
  expect(reachedProblem({ id: 'a', status: reached })).toEqual(problem)
})

test('waits until every one has a status that stays', async () => {
  const seen: Record<string, StatusRecord[]> = {
    a: [status({ status: 'Starting' }), status()],
    b: [status({ id: 'b', revision: 1 }), status({ id: 'b' })],
  }
  const statuses = {
    caughtUp: async () => undefined,
    get: (id: string) => (seen[id]?.length === 1 ? seen[id][0]! : (seen[id]?.shift() ?? null)),
  }
  const reached = await waitForStatuses(
    ['a', 'b'].map((id) => ({ id, life })),
    { statuses },
    false,
    60_000,
  )
  expect(reached.map(({ id, status: found }) => [id, found?.status, found?.revision])).toEqual([
    ['a', 'Running', 2],
    ['b', 'Running', 2],
  ])
})

test('gives what there is when the time is over', async () => {
  const statuses = { caughtUp: async () => undefined, get: () => null }
  expect(await waitForStatuses([{ id: 'a', life }], { statuses }, false, 0)).toEqual([{ id: 'a', status: null }])
})
