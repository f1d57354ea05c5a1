import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { ChaosPolicy } from './ledger.ts'

const cli = fileURLToPath(new URL('../../services/cli/bin/barnabas', import.meta.url))

/** The CloudEvents type of the events that go to a subscription. */
export const typeOf = (subscription: number): string => `chaos.${subscription}`

export type ChaosOrder = 'key' | 'partition'

export interface AppliedSubscriptions {
  readonly count: number
  /** So many of them, the first ones, have batches. */
  readonly batched: number
  /** So many of them, the last ones, deliver in an order. */
  readonly ordered: number
  readonly order: ChaosOrder | undefined
  readonly topics: readonly string[]
  readonly sink: string
  readonly policy: ChaosPolicy
}

/** `barnabas apply`: resolves when all of them run. */
export async function applySubscriptions(
  folder: string,
  { count, batched, ordered, order, topics, sink, policy }: AppliedSubscriptions,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  const subscriptions = Array.from({ length: count }, (_, index) => ({
    id: `chaos-${index}`,
    topics,
    types: [typeOf(index)],
    sink: `${sink}/${index}`,
    from: 'earliest',
    timeout: `${policy.timeoutMs}ms`,
    // With few places events wait, and what waits together travels together.
    ...(index < batched ? { batch: { maxEvents: 5 }, concurrency: 8 } : {}),
    ...(index >= count - ordered ? { order } : {}),
    // The ledger knows when each retry is due; a receiver that is left to rest is test/scenarios/probation.test.ts's.
    probation: 'none',
    retry: { schedule: policy.delaysMs.map((delayMs) => `${delayMs}ms`), maxAttempts: policy.maxAttempts },
  }))
  const file = join(folder, 'subscriptions.json')
  await writeFile(file, JSON.stringify(subscriptions))
  const { PATH = '', HOME = '' } = process.env
  await promisify(execFile)(process.execPath, [cli, 'apply', '-f', file], { env: { PATH, HOME, ...env } })
}
