import { blobLimits } from '@barnabas/core'
import type { Logger } from '@barnabas/delivery'
import type { BlobSink } from './blob-sink.ts'
import type { Blob } from './blob-window.ts'
import { pause } from './pause.ts'

/** Why dead letters got into no blob. */
export type GivenUpReason = 'ContainerNotFound' | 'Unavailable'

export interface BlobCounts {
  blobWritten(subscriptionId: string, events: number): void
  blobGivenUp(subscriptionId: string, reason: GivenUpReason, events: number): void
}

export interface BlobWriterOptions {
  /** `account/container`. */
  readonly target: string
  /** Opened on first need, and again after it could not be. */
  readonly sink: () => Promise<BlobSink>
  readonly timeScale: number
  readonly now: () => number
  readonly counts: BlobCounts
  readonly logger: Logger
}

export interface BlobWriter {
  /**
   * Resolves with true when the blob is written or given up, with false when it is neither: `signal` was given, or `isLost`
   * says that others write it. One at a time.
   */
  write(blob: Blob, isLost: () => boolean, signal: AbortSignal): Promise<boolean>
}

/**
 * Writes a blob until it is there. What may pass is tried again for as long as four hours, with pauses from 1 s to 1 min;
 * where the container does not exist nothing is tried again (row A13). The dead letters stay in their topic in any case.
 */
export function createBlobWriter(options: BlobWriterOptions): BlobWriter {
  const { target, timeScale, now, counts, logger } = options
  /** Since when every write has failed, null after one that has not. */
  let failingSince: number | null = null

  function hasFailed(blob: Blob, message: string): void {
    if (failingSince === null) {
      const fields = { blob: target, path: blob.path, error: message }
      logger.warn(fields, `cannot write dead letters into blobs of ${target}: ${message}; trying again`)
    }
    failingSince ??= now()
  }

  function hasWorked(): void {
    if (failingSince !== null) logger.info({ blob: target }, `dead letters are written into blobs of ${target} again`)
    failingSince = null
  }

  function giveUp(blob: Blob, reason: GivenUpReason, why: string): void {
    const { subscriptionId: subscription, events, position, path } = blob
    counts.blobGivenUp(subscription, reason, events)
    logger.error(
      { subscription, reason, blob: target, path, events, position },
      `${events} dead letters of ${subscription} from ${position} on get into no blob of ${target}: ${why}; ` +
        'they stay in their topic',
    )
  }

  async function attempt(blob: Blob, signal: AbortSignal) {
    try {
      const sink = await options.sink()
      return await sink.write(blob.path, blob.body, signal)
    } catch (error) {
      return { kind: 'unavailable', message: error instanceof Error ? error.message : String(error) } as const
    }
  }

  return {
    async write(blob, isLost, signal) {
      // Headers come from anybody: it may say that it is due in years.
      const dueAt = Math.min(blob.dueAt, now())
      for (
        let pauseMs: number = blobLimits.firstPauseMs;
        ;
        pauseMs = Math.min(pauseMs * 2, blobLimits.longestPauseMs)
      ) {
        if (signal.aborted || isLost()) return false
        const result = await attempt(blob, signal)
        switch (result.kind) {
          case 'written':
          case 'there':
            hasWorked()
            if (result.kind === 'written') counts.blobWritten(blob.subscriptionId, blob.events)
            logger.debug({ blob: target, path: blob.path, events: blob.events, result: result.kind }, 'wrote a blob')
            return true
          case 'no-container':
            failingSince = null
            giveUp(blob, 'ContainerNotFound', 'the container does not exist')
            return true
          case 'unavailable':
            if (signal.aborted) return false
            hasFailed(blob, result.message)
            break
          default:
            return result satisfies never
        }
        if (now() - Math.max(failingSince ?? now(), dueAt) >= blobLimits.givenUpAfterMs * timeScale) {
          giveUp(blob, 'Unavailable', `no write has succeeded for four hours: ${result.message}`)
          return true
        }
        await pause(pauseMs * timeScale, signal)
      }
    },
  }
}
