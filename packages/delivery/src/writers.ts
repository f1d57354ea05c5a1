import type { OutgoingRecord } from '@barnabas/core'
import type { KafkaClient, Producer, ProduceResult } from '@barnabas/kafka'
import type { Logger } from './logger.ts'
import type { Owner } from './owner.ts'
import { createWriteTrouble } from './write-trouble.ts'

/**
 * Writes the records that verdicts ask for. One producer for the tiers, one for the default dead-letter topic,
 * one for all other targets: a deleted topic disturbs only its own class.
 */
export interface Writers {
  /**
   * Tries the forms of one record in order, each until it is acknowledged or refused as too large; what can pass
   * is tried again for as long as it takes, holding the offset (design, promise 7). `owner` is asked before
   * each try: a lost partition's record is not written any more, and while it is not known whether it is lost, nothing
   * is.
   */
  write(forms: readonly OutgoingRecord[], owner: Owner): Promise<WriteResult>
  close(): Promise<void>
}

export type WriteResult =
  { readonly kind: 'written'; readonly form: number } | { readonly kind: 'too-large' } | { readonly kind: 'abandoned' }

const firstPauseMs = 100
const longestPauseMs = 5_000

export function createWriters(options: {
  readonly kafka: KafkaClient
  readonly isTier: (topic: string) => boolean
  readonly defaultDeadLetterTopic: string
  /** Told after each try to write to a topic that does not exist: one of our own is made again. */
  readonly onMissing: (topic: string) => void
  readonly logger: Logger
}): Writers {
  const { kafka, isTier, defaultDeadLetterTopic, logger } = options
  const tiers = kafka.producer()
  const deadLetters = kafka.producer()
  const trouble = createWriteTrouble(logger, () => performance.now())
  let others: Producer | undefined

  function producerOf(topic: string): Producer {
    if (isTier(topic)) return tiers
    if (topic === defaultDeadLetterTopic) return deadLetters
    others ??= kafka.producer()
    return others
  }

  async function writeForm(record: OutgoingRecord, owner: Owner): Promise<'written' | 'too-large' | 'abandoned'> {
    const producer = producerOf(record.topic)
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      if (owner.settled !== undefined) await owner.settled
      if (owner.lost) return 'abandoned'
      const result: ProduceResult = await producer.produce(record)
      if (result.kind === 'acknowledged') return 'written'
      if (result.kind === 'refused' && result.code === 'RECORD_TOO_LARGE') return 'too-large'
      trouble.failed(record.topic, result.message)
      if (result.kind === 'unavailable' && result.isMissing === true) options.onMissing(record.topic)
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  return {
    async write(forms, owner) {
      for (const [form, record] of forms.entries()) {
        const result = await writeForm(record, owner)
        if (result === 'written') return { kind: 'written', form }
        if (result === 'abandoned') return { kind: 'abandoned' }
      }
      logger.warn(
        { topic: forms[0]?.topic },
        'a record is too large for its topic even in its smallest form; raise the max.message.bytes of the topic',
      )
      return { kind: 'too-large' }
    },
    async close() {
      await Promise.all([tiers.close(), deadLetters.close(), others?.close()])
    },
  }
}
