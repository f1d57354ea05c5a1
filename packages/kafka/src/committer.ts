import type { Consumer as KafkajsConsumer } from 'kafkajs'
import { brokerErrorType } from './kafka-error.ts'
import type { OwnPartitions } from './own-partitions.ts'
import type { CommitPosition, Consumer } from './port.ts'
import { within } from './time-limit.ts'

/** How long the client may try a commit again before the caller is told; it goes on trying. */
const COMMIT_WITHIN_MS = 30_000

/** The commit did not happen because the generation that it belonged to is over. */
const GENERATION_OVER = ['ILLEGAL_GENERATION', 'UNKNOWN_MEMBER_ID', 'REBALANCE_IN_PROGRESS']

export interface CommitterOptions {
  readonly client: KafkajsConsumer
  readonly groupId: string
  readonly own: OwnPartitions
  readonly isEnded: () => boolean
}

/** The commits of one consumer, one at a time. */
export function createCommitter({ client, groupId, own, isEnded }: CommitterOptions): Consumer['commit'] {
  let commitsDone = 0
  let last: Promise<unknown> = Promise.resolve()
  client.on(client.events.COMMIT_OFFSETS, () => void (commitsDone += 1))

  async function commitNow(positions: readonly CommitPosition[]): Promise<boolean> {
    const ours = positions.filter((position) => own.has(position))
    if (ours.length === 0) return true
    const before = commitsDone
    try {
      await client.commitOffsets(ours.map((position) => ({ ...position, offset: String(position.offset) })))
    } catch (error) {
      const type = brokerErrorType(error)
      if (type !== undefined && GENERATION_OVER.includes(type)) return false
      if (isEnded() || own.membership.memberId === '') return false
      throw error
    }
    // The client resolves without a commit when its loop is not running.
    return commitsDone > before
  }

  return async function commit(positions) {
    // Also behind one that was given up: an older commit must not land on a newer one.
    const done = last.then(() => commitNow(positions))
    last = done.catch(() => undefined)
    return await within(COMMIT_WITHIN_MS, done, `offsets of group ${groupId} could not be committed`)
  }
}
