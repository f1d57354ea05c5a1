import { setTimeout as sleep } from 'node:timers/promises'
import type { StatusRecord } from '@barnabas/core'
import type { Applied } from './apply-all.ts'
import type { Store } from './store.ts'

export interface Reached {
  readonly id: string
  /** What a dispatcher made of this revision; null when none said anything. */
  readonly status: StatusRecord | null
}

const lookEveryMs = 50

/**
 * Waits until each subscription has a status that stays: `Starting` is on its way. `mayRecover`: a source topic was
 * just created, and a `Start Failed` for its sake ends by itself.
 */
export async function waitForStatuses(
  applied: readonly Pick<Applied, 'id' | 'life'>[],
  { statuses }: Pick<Store, 'statuses'>,
  mayRecover: boolean,
  withinMs: number,
): Promise<readonly Reached[]> {
  const deadline = Date.now() + withinMs
  const look = () => applied.map(({ id, life }) => ({ id, status: statusOfRevision(statuses.get(id), life) }))
  await statuses.caughtUp()
  for (;;) {
    const reached = look()
    if (reached.every(({ status }) => isSettled(status, mayRecover)) || Date.now() >= deadline) return reached
    await sleep(Math.min(lookEveryMs, Math.max(0, deadline - Date.now())))
  }
}

/** A status of an earlier revision or life says nothing about this one. */
export function statusOfRevision(status: StatusRecord | null, life: Applied['life']): StatusRecord | null {
  if (status === null || status.generation !== life.generation || status.revision < life.revision) return null
  return status
}

export function isSettled(status: StatusRecord | null, mayRecover: boolean): boolean {
  // Its receiver, or a person, is to do something: that is not waited for.
  if (status?.status === 'Starting' && status.handshake?.kind === 'awaiting') return true
  if (status === null || status.status === 'Starting') return false
  return status.status !== 'Start Failed' || !mayRecover
}

/** Why a script must not go on, or null. */
export function reachedProblem({ id, status }: Reached): string | null {
  if (status === null) {
    return `${id}: no dispatcher answers; it is stored, and begins once one runs (\`pnpm start\` or \`pnpm dispatcher\`)`
  }
  if (status.status === 'Start Failed') return `${id}: Start Failed: ${status.reason}`
  if (status.status !== 'Starting') return null
  return `${id}: still Starting: ${status.reason}; look at \`barnabas get ${id} -w\``
}
