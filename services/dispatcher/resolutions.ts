import { placeText, rfc3339 } from '@barnabas/core'
import type { Command, InPlaceEvent } from '@barnabas/core'

/** What operators have said of blocks. Of each the first word counts, whoever reads it when: all read the same topic. */
export interface Resolutions {
  /** What was said, in the order of the commands topic. Said of no present block, it waits for nothing and does nothing. */
  said(command: Extract<Command, { command: 'start' | 'skip' }>): void
  of(event: InPlaceEvent): 'start' | 'skip' | null
}

/** Beyond this many the oldest are forgotten; they are said of blocks, which are few. */
const rememberedMax = 10_000

export function createResolutions(): Resolutions {
  const first = new Map<string, 'start' | 'skip'>()

  return {
    said({ subscription, command, block }) {
      if (block === undefined) return
      const key = `${subscription}/${placeText(block)}/${block.since}`
      if (first.has(key)) return
      first.set(key, command)
      const [oldest] = first.keys()
      if (first.size > rememberedMax && oldest !== undefined) first.delete(oldest)
    },
    of({ state: { subscriptionId, source }, standing }) {
      if (standing.kind !== 'blocked') return null
      return first.get(`${subscriptionId}/${placeText(source)}/${rfc3339(standing.since)}`) ?? null
    },
  }
}
