import { targetRefusalRecord } from '@barnabas/core'
import type { Names, TargetRefusal } from '@barnabas/core'
import type { Logger } from '@barnabas/delivery'
import type { KafkaClient, Producer } from '@barnabas/kafka'
import { pause } from './pause.ts'

/** `barnabas.refusals`: what targets refuse for good, so that somebody can list it later. */
export interface RefusalLog {
  /**
   * Resolves with true when it is written, with false when `signal` was given before: until then it is tried again. What
   * Kafka refuses is told as a warning and left, for a list must not keep what follows from its target. Never rejects.
   */
  write(refusal: TargetRefusal, signal: AbortSignal): Promise<boolean>
  close(): Promise<void>
}

export interface RefusalLogOptions {
  readonly kafka: Pick<KafkaClient, 'producer'>
  readonly names: Pick<Names, 'refusals'>
  readonly logger: Logger
  readonly pauseMs?: number
}

export function openRefusalLog({ kafka, names, logger, pauseMs = 1_000 }: RefusalLogOptions): RefusalLog {
  let producer: Producer | undefined
  return {
    async write(refusal, signal) {
      producer ??= kafka.producer()
      const record = { topic: names.refusals, ...targetRefusalRecord(refusal), headers: {} }
      while (!signal.aborted) {
        const result = await producer.produce(record)
        if (result.kind === 'acknowledged') return true
        if (result.kind === 'refused') {
          const { target } = refusal
          logger.warn({ target, error: result.message }, `a refusal of ${target} cannot be listed: ${result.message}`)
          return true
        }
        await pause(pauseMs, signal)
      }
      return false
    },
    async close() {
      await producer?.close()
    },
  }
}
