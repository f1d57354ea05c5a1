import type { HealthLog } from './health-log.ts'

export interface HealthRemains {
  /** What a process says of a subscription. */
  readonly records: readonly { readonly subscription: string; readonly process: string }[]
  /** Processes that say nothing any more, not even that they have left. */
  readonly processes: readonly string[]
}

/** As many at a time; what is beyond is found the next time. */
const recordsMax = 1_000

/**
 * What stands in the health topic and is nobody's: of subscriptions that were deleted, said by processes that are gone or
 * by this one, which could not remove it then; and the signs of life of processes that are gone. The records of a
 * subscription that is there are its leader's to take over.
 */
export function healthRemains(
  log: Pick<HealthLog, 'subscriptions' | 'of' | 'processes'>,
  {
    process,
    exists,
    isGone,
  }: {
    /** This one. */
    readonly process: string
    readonly exists: (subscription: string) => boolean
    readonly isGone: (process: string) => boolean
  },
): HealthRemains {
  const all = log.subscriptions().flatMap((subscription) => log.of(subscription))
  const records = all
    .filter((record) => record.process === process || isGone(record.process))
    .filter(({ subscription }) => !exists(subscription))
  const saying = new Set(all.map((record) => record.process))
  // As long as something of it is there, its last sign of life says how long it is gone.
  const processes = log.processes().filter((each) => isGone(each) && !saying.has(each))
  return { records: records.slice(0, recordsMax), processes: processes.slice(0, recordsMax) }
}
