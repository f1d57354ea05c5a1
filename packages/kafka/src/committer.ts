import type { Consumer as KafkajsConsumer } from 'kafkajs'
import { brokerErrorType } from './kafka-error.ts'
import type { OwnPartitions } from './own-partitions.ts'
import type { CommitPosition, Consumer } from './port.ts'
import { within } from './time-limit.ts'

/** How long the client may try a commit again before the caller is told; it goes on trying. */
const COMMIT_WITHIN_MS = 30_000

/** A commit that takes this long may be for a topic that is no more. */
const DELETED_AFTER_MS = 1_000

/** The commit did not happen because the generation that it belonged to is over. */
const GENERATION_OVER = ['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'REBALANCE_IN_PROGRESS']

export interface CommitterOptions {
  readonly client: KafkajsConsumer
  readonly groupId: string
  readonly own: OwnPartitions
  readonly isEnded: () => boolean
  /** Which of these topics do not exist; rejects when no broker answers. */
  readonly missingTopics: (topics: readonly string[]) => Promise<readonly string[]>
}

/** The commits of one consumer, one at a time. */
export function createCommitter({
  client,
  groupId,
  own,
  isEnded,
  missingTopics,
}: CommitterOptions): Consumer['commit'] {
  let commitsDone = 0
  let last: Promise<unknown> = Promise.resolve()
  client.on(client.events.COMMIT_OFFSETS, () => void (commitsDone += 1))

  async function commitNow(positions: readonly CommitPosition[]): Promise<boolean> {
    const ours = positions.filter((position) => own.has(position))
    if (ours.length === 0) return true
    const before = commitsDone
    try {
      const committing = client.commitOffsets(
        ours.map((position) => ({ ...position, offset: String(position.offset) })),
      )
      if (await isDeletedBefore(committing, [...new Set(ours.map(({ topic }) => topic))])) return false
    } catch (error) {
      const type = brokerErrorType(error)
      if (type !== undefined && GENERATION_OVER.includes(type)) return false
      if (isEnded() || own.membership.memberId === '') return false
      throw error
    }
    // The client resolves without a commit when its loop is not running.
    return commitsDone > before
  }

  /**
   * True once one of the topics does not exist while the commit goes on: the client would try it for as long as it
   * runs, and whoever waits for it (the stop of a subscription whose topic was deleted) would wait in vain.
   */
  async function isDeletedBefore(committing: Promise<void>, ofTopics: readonly string[]): Promise<boolean> {
    let timer: NodeJS.Timeout | undefined
    const deleted = new Promise<true>((resolve) => {
      timer = setInterval(() => {
        missingTopics(ofTopics).then(
          (missing) => missing.length > 0 && resolve(true),
          () => undefined, // No broker answers, so the topics are not what is wrong.
        )
      }, DELETED_AFTER_MS)
    })
    try {
      return await Promise.race([committing.then(() => false), deleted])
    } finally {
      clearInterval(timer)
    }
  }

  return async function commit(positions) {
    // Also behind one that was given up: an older commit must not land on a newer one.
    const done = last.then(() => commitNow(positions))
    last = done.catch(() => undefined)
    return await within(COMMIT_WITHIN_MS, done, `offsets of group ${groupId} could not be committed`)
  }
}
