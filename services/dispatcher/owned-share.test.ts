import type { OwnedPartitions } from '@barnabas/core'
import { expect, test, vi } from 'vitest'
import { createOwnedShare } from './owned-share.ts'

const at = (partition: number) => ({ topic: 'orders', partition })
const assignment = (gained: number, kept = 0) => ({
  gained: Array.from({ length: gained }, (_, index) => at(index)),
  kept: Array.from({ length: kept }, (_, index) => at(gained + index)),
  lost: [],
  isLeader: true,
  memberId: 'one',
  generationId: 1,
})

/** What is said of the share, and what brokers answer, each time when the test lets them. */
function recorded(isLimited: () => boolean = () => true) {
  const said: (OwnedPartitions | null)[] = []
  const answers: PromiseWithResolvers<number>[] = []
  const share = createOwnedShare({
    admin: {
      async describeTopics(topics) {
        const answer = Promise.withResolvers<number>()
        answers.push(answer)
        const partitions = await answer.promise
        return topics.map((topic) => ({ topic, partitions, replication: 1 }))
      },
    },
    topics: ['orders', 'returns'],
    isLimited,
    owns: (owned) => said.push(owned),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  return { share, said, answers }
}

const nothing = { own: 0, all: 0 }

test('nothing until it is known, then its part of all topics, and in the end that it reads none', async () => {
  const { share, said, answers } = recorded()
  share.placed(assignment(2, 1))
  expect(said).toEqual([nothing])
  answers[0]?.resolve(4)
  await expect.poll(() => said).toEqual([nothing, { own: 3, all: 8 }])
  share.look()
  expect(answers).toHaveLength(1)
  share.stop()
  expect(said.slice(2)).toEqual([null])
})

test('without a limit nobody is asked; with one that comes later the present assignment counts', async () => {
  let isLimited = false
  const { share, said, answers } = recorded(() => isLimited)
  share.placed(assignment(1))
  share.look()
  expect([said, answers]).toEqual([[], []])
  isLimited = true
  share.look()
  answers[0]?.resolve(1)
  await expect.poll(() => said).toEqual([nothing, { own: 1, all: 2 }])

  const other = recorded(() => false)
  other.share.stop()
  expect(other.said).toEqual([])
})

test('an answer for an assignment that is over, or after the end, says nothing; the share before it stays', async () => {
  const { share, said, answers } = recorded()
  share.placed(assignment(1))
  share.placed(assignment(2))
  answers[0]?.resolve(1)
  answers[1]?.resolve(1)
  await expect.poll(() => said).toEqual([nothing, { own: 2, all: 2 }])
  share.placed(assignment(1))
  share.stop()
  answers[2]?.resolve(1)
  await Promise.resolve()
  expect(said.slice(2)).toEqual([null])
})

test('while no broker answers it is asked again', async () => {
  vi.useFakeTimers()
  try {
    const { share, said, answers } = recorded()
    share.placed(assignment(1))
    answers[0]?.reject(new Error('no broker'))
    await vi.advanceTimersByTimeAsync(1_000)
    answers[1]?.resolve(1)
    await vi.advanceTimersByTimeAsync(0)
    expect(said).toEqual([nothing, { own: 1, all: 2 }])
  } finally {
    vi.useRealTimers()
  }
})
