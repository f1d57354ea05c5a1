import { setTimeout as sleep } from 'node:timers/promises'
import type { StatusRecord } from '@barnabas/core'
import type { Store } from './store.ts'

/** How long a dispatcher is waited for. */
const answeredWithinMs = 30_000
const lookEveryMs = 50

/** The first status of a subscription that is enough; null when none comes within 30 s. */
export async function untilStatus(
  { statuses }: Pick<Store, 'statuses'>,
  id: string,
  isEnough: (status: StatusRecord) => boolean,
): Promise<StatusRecord | null> {
  const deadline = Date.now() + answeredWithinMs
  while (Date.now() < deadline) {
    const status = statuses.get(id)
    if (status !== null && isEnough(status)) return status
    await sleep(lookEveryMs)
  }
  return null
}
