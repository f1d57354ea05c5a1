import { planApply } from '@barnabas/core'
import type { ApplyInput, Names, SubscriptionLife, ValidSubscription } from '@barnabas/core'
import type { Admin, Producer, ProduceResult } from '@barnabas/kafka'
import type { StatusStore } from './status-store.ts'
import type { SubscriptionRegistry } from './subscription-registry.ts'

export interface ApplyOptions {
  readonly admin: Pick<Admin, 'offsets'>
  readonly producer: Pick<Producer, 'produce'>
  /** Started. */
  readonly registry: Pick<SubscriptionRegistry, 'caughtUp' | 'stored'>
  readonly statuses: Pick<StatusStore, 'get'>
  readonly names: Names
  readonly now: () => number
}

export interface ApplyHow extends Pick<ApplyInput, 'force' | 'pausedBy'> {
  /** Plan it, and write nothing. */
  readonly dryRun: boolean
}

export type ApplyResult =
  | { readonly kind: 'created' | 'changed' | 'unchanged'; readonly life: SubscriptionLife }
  | { readonly kind: 'conflict'; readonly message: string }
  | WriteFailure

export type DeleteResult = { readonly kind: 'deleted' | 'absent' } | WriteFailure

export interface WriteFailure {
  readonly kind: 'failed'
  readonly message: string
}

/**
 * Applies one subscription: reads what stands, resolves where it starts, and writes it unless it says the same.
 * With `dryRun` everything but the writing. Its source topics must exist, or they will be read from their beginning.
 */
export async function applySubscription(
  parsed: ValidSubscription,
  { admin, producer, registry, statuses, names, now }: ApplyOptions,
  { force, dryRun, pausedBy }: ApplyHow,
): Promise<ApplyResult> {
  const { id, topics } = parsed.subscription
  await registry.caughtUp()
  const plan = planApply({
    parsed,
    stored: registry.stored(id),
    formerGeneration: statuses.get(id)?.generation ?? null,
    offsets: await admin.offsets(topics),
    now: now(),
    force,
    pausedBy,
  })
  if (plan.kind === 'conflict' || plan.kind === 'unchanged') return plan
  const { kind, life, value } = plan
  if (dryRun) return { kind, life }
  return failureOf(await write(producer, names, id, value)) ?? { kind, life }
}

/** Deletes a subscription, whether it validates or not; its parked events become dead letters. */
export async function deleteSubscription(
  id: string,
  { producer, registry, names }: Pick<ApplyOptions, 'producer' | 'registry' | 'names'>,
): Promise<DeleteResult> {
  await registry.caughtUp()
  if (registry.stored(id).kind === 'absent') return { kind: 'absent' }
  return failureOf(await write(producer, names, id, null)) ?? { kind: 'deleted' }
}

async function write(producer: Pick<Producer, 'produce'>, names: Names, id: string, value: Buffer | null) {
  return await producer.produce({ topic: names.subscriptions, key: Buffer.from(id), value, headers: {} })
}

function failureOf(result: ProduceResult): WriteFailure | null {
  switch (result.kind) {
    case 'acknowledged':
      return null
    case 'refused':
      return { kind: 'failed', message: `the broker refuses the subscription: ${result.message}` }
    case 'unavailable':
      return { kind: 'failed', message: `the subscription may not have been written: ${result.message}; apply again` }
    default:
      return result satisfies never
  }
}
