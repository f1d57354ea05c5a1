import { mergedFacts, nothingSaid } from '@barnabas/core'
import type { Command, Pause, PauseFacts } from '@barnabas/core'

/** What `start` and `pause` have said of subscriptions, be they known here already or not. */
export interface Spoken {
  said(command: Extract<Command, { command: 'start' | 'pause' }>): void
  /** What of it concerns this life. */
  factsOf(id: string, generation: number): PauseFacts
}

interface Heard {
  readonly started: string | null
  readonly paused: (Pause & { readonly generation?: number | undefined }) | null
}

/** Beyond this many ids the ones of which nothing was said for longest are forgotten; their statuses know it too. */
const rememberedMax = 10_000

export function createSpoken(): Spoken {
  const heard = new Map<string, Heard>()

  return {
    said(command) {
      const { subscription: id } = command
      const before = heard.get(id) ?? { started: null, paused: null }
      heard.delete(id)
      heard.set(id, afterwards(before, command))
      const [oldest] = heard.keys()
      if (heard.size > rememberedMax && oldest !== undefined) heard.delete(oldest)
    },
    factsOf(id, generation) {
      const { started, paused } = heard.get(id) ?? { started: null, paused: null }
      const concerns = (at: string) => Date.parse(at) >= generation
      const isPaused = paused !== null && (paused.generation ?? generation) === generation && concerns(paused.at)
      return mergedFacts(nothingSaid, {
        started: started !== null && concerns(started) ? started : null,
        paused: isPaused ? { at: paused.at, by: paused.by } : null,
      })
    },
  }
}

function afterwards({ started, paused }: Heard, command: Parameters<Spoken['said']>[0]): Heard {
  const { at, by } = command
  if (command.command === 'start') return { paused, started: started !== null && started > at ? started : at }
  const { generation } = command
  // Of one life the latest counts, whatever clocks told the time in another one.
  if (paused !== null && paused.generation === generation && paused.at >= at) return { paused, started }
  return { started, paused: { at, by, generation } }
}
