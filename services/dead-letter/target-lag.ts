import type { Logger } from '@barnabas/delivery'
import type { Admin } from '@barnabas/kafka'
import type { createTargetRetention } from './target-retention.ts'

export interface LagCounts {
  /** So many records stand between what a target's group has committed and the ends of its topics; null when it is read no more. */
  targetLag(target: string, records: number | null): void
}

export interface TargetLagOptions {
  readonly admin: Pick<Admin, 'offsets' | 'committed'>
  /** As `targetText` writes it. */
  readonly target: string
  readonly groupId: string
  readonly topics: () => readonly string[]
  readonly counts: LagCounts
  readonly retention: Pick<ReturnType<typeof createTargetRetention>, 'look'>
  readonly logger: Logger
}

/**
 * How far a target is behind, of the whole group: each process that carries to it says the same. Records of other targets
 * that were not passed over yet count too.
 */
export function createTargetLag({ admin, target, groupId, topics, counts, retention, logger }: TargetLagOptions) {
  let looking: Promise<void> | undefined

  async function measure(): Promise<void> {
    try {
      const read = topics()
      const [offsets, committed] = await Promise.all([admin.offsets(read), admin.committed(groupId, read)])
      const behind = offsets.flatMap(({ topic, partition, low, high }) => {
        const at = committed.find((each) => each.topic === topic && each.partition === partition)?.offset ?? low
        const offset = Math.max(at, low)
        return offset < high ? [{ topic, partition, offset, records: high - offset }] : []
      })
      counts.targetLag(
        target,
        behind.reduce((sum, { records }) => sum + records, 0),
      )
      await retention.look(behind)
    } catch (error) {
      logger.debug({ target, error: String(error) }, 'the lag of a target cannot be told now')
    }
  }

  return {
    /** Does not wait, and looks once at a time. */
    look(): void {
      looking ??= measure().finally(() => (looking = undefined))
    },
    async close(): Promise<void> {
      await looking
      counts.targetLag(target, null)
    },
  }
}
