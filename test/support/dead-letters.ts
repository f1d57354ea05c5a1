import { deadLetterRecords } from '@barnabas/core'
import type { DeadLetter } from '@barnabas/core'
import { environment } from './barnabas.ts'
import { plainKafka, produce } from './kafka.ts'
import { runProcess } from './processes.ts'
import type { RunningProcess } from './processes.ts'

/** What differs between dead letters of one test. */
export interface LetterParts {
  readonly id: string
  readonly subscription: string
  readonly generation: number
  /** On its source topic. */
  readonly offset: number
  readonly redrives?: number
  readonly reason?: DeadLetter['reason']
  readonly value?: Buffer | null
}

export const firstPublished = Date.parse('2026-01-02T03:04:05.678Z')

/** Writes dead letters as a service does, as many as wanted, to one topic. */
export async function produceDeadLetters(topic: string, letters: Iterable<LetterParts>): Promise<void> {
  const messages = [...letters].map((letter) => {
    const [{ key, value, headers }] = deadLetterRecords(deadLetter(topic, letter))
    return { key, value, headers: headers as Record<string, Buffer>, partition: letter.offset % 2 }
  })
  for (let from = 0; from < messages.length; from += 1_000) {
    await produce(plainKafka(), topic, messages.slice(from, from + 1_000))
  }
}

function deadLetter(topic: string, parts: LetterParts): DeadLetter {
  const { id, subscription, generation, offset, redrives = 0, value = Buffer.from(`{"of": "${id}"}`) } = parts
  const headers = { ce_specversion: '1.0', ce_id: id, ce_source: '/tests', ce_type: 'test.made', 'x-own': 'kept' }
  return {
    topic,
    key: Buffer.from('the key'),
    value,
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
    state: {
      subscriptionId: subscription,
      generation,
      source: { topic: 'orders', partition: 0, offset },
      publishTime: firstPublished,
      attempts: 3,
      firstAttemptTime: firstPublished + 1_000,
      lastAttemptTime: firstPublished + 2_000,
      lastOutcome: 'Busy',
      lastStatus: 503,
      lastError: 'busy',
      redrives,
      skips: 2,
    },
    reason: parts.reason ?? 'MaxDeliveryAttemptsExceeded',
    time: firstPublished + 3_000,
    destination: 'https://example.com/hook',
    responseBody: Buffer.from('later'),
  }
}

/** `barnabas dead-letters …`, under way. */
export function deadLettersCommand(prefix: string, ...args: readonly string[]): RunningProcess {
  const command = ['dead-letters', ...args]
  return runProcess('services/cli/bin/barnabas', { ...environment(prefix), USER: 'the-operator' }, command)
}

/** What it printed with `-o json`, and how it ended. */
export async function redriveResult(process: RunningProcess): Promise<{
  readonly status: number | null
  readonly selected: number
  readonly sent: number
  readonly alreadySent: number
  readonly left: readonly { readonly because: string; readonly count: number; readonly first: string }[]
}> {
  const status = await process.exited
  const from = process.lines.indexOf('{')
  if (from < 0) throw new Error(`no result:\n${process.lines.join('\n')}`)
  const json = process.lines.slice(from, process.lines.indexOf('}', from) + 1).join('\n')
  return { status, ...(JSON.parse(json) as Omit<Awaited<ReturnType<typeof redriveResult>>, 'status'>) }
}
