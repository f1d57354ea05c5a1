/**
 * How the sink of the bench answers, by the path of the request. `<tally>` is any word: each path counts by itself.
 *
 *   /200/<tally>                 200
 *   /503/<tally>                 503
 *   /one-in/<n>/<tally>          503 to every n-th first attempt, 200 otherwise
 *   /hang/<tally>                never
 *   /clock/<tally>               200; how old the event is by its attribute `senttime` (ns of the monotonic clock)
 *   /once/<tally>                200; the same of the first attempt of each event, and how many came after it
 *   /again/<delayMs>/<tally>     503 to a first attempt, 200 to the second; how late that was, delayMs after the 503
 */
export interface Answers {
  /** Answers a request that is here as a whole; null: never. */
  to(path: string, head: string, bodyBytes?: number): Buffer | null
  tally(path: string): Tally
}

export interface Tally {
  /** Answered 200. */
  accepted: number
  /** Answered 503. */
  refused: number
  /** Not answered. */
  hanging: number
  /** Of all requests together. */
  bodyBytes: number
  /** In ms, in the order of arrival: ages for `clock` and `once`, latenesses for `again`. */
  readonly times: number[]
  /** `again`: attempts before their due time. */
  early: number
  /** `once` and `again`: attempts after the one that was accepted. */
  surplus: number
}

export interface Clocks {
  readonly monotonicNanos: () => number
  /** The clock by which delays are counted, in whole ms as those who wait count them. */
  readonly wallMs: () => number
}

const ok = Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
const unavailable = Buffer.from('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n')

type Script = (head: string) => 'accept' | 'refuse' | 'hang'

export function createAnswers(clocks: Clocks): Answers {
  const known = new Map<string, { readonly script: Script; readonly tally: Tally }>()

  function at(path: string) {
    const there = known.get(path)
    if (there !== undefined) return there
    const tally: Tally = { accepted: 0, refused: 0, hanging: 0, bodyBytes: 0, times: [], early: 0, surplus: 0 }
    const made = { script: scriptOf(path, tally, clocks), tally }
    known.set(path, made)
    return made
  }

  return {
    to(path, head, bodyBytes = 0) {
      const { script, tally } = at(path)
      tally.bodyBytes += bodyBytes
      const answer = script(head)
      switch (answer) {
        case 'accept':
          tally.accepted += 1
          return ok
        case 'refuse':
          tally.refused += 1
          return unavailable
        case 'hang':
          tally.hanging += 1
          return null
        default:
          return answer satisfies never
      }
    },
    tally: (path) => at(path).tally,
  }
}

function scriptOf(path: string, tally: Tally, clocks: Clocks): Script {
  const [, behaviour = '', parameter = ''] = path.split('/')
  switch (behaviour) {
    case '200':
      return () => 'accept'
    case '503':
      return () => 'refuse'
    case 'hang':
      return () => 'hang'
    case 'one-in':
      return oneIn(Number(parameter))
    case 'clock':
      return (head) => {
        tally.times.push(ageMs(head, clocks))
        return 'accept'
      }
    case 'once':
      return once(tally, clocks)
    case 'again':
      return again(Number(parameter), tally, clocks)
    default:
      throw new Error(`the sink has no answer to ${path}`)
  }
}

function oneIn(n: number): Script {
  let first = 0
  return (head) => {
    if (valueIn(head, attemptNumber) !== '1') return 'accept'
    first += 1
    return first % n === 0 ? 'refuse' : 'accept'
  }
}

function once(tally: Tally, clocks: Clocks): Script {
  const seen = new Set<string>()
  return (head) => {
    const id = valueIn(head, eventNumber)
    if (seen.has(id)) tally.surplus += 1
    else {
      seen.add(id)
      tally.times.push(ageMs(head, clocks))
    }
    return 'accept'
  }
}

function ageMs(head: string, clocks: Clocks): number {
  return (clocks.monotonicNanos() - Number(valueIn(head, sentTime))) / 1e6
}

function again(delayMs: number, tally: Tally, clocks: Clocks): Script {
  const refusedAt = new Map<number, number | 'accepted'>()
  return (head) => {
    const id = Number(valueIn(head, eventNumber))
    const now = clocks.wallMs()
    const before = refusedAt.get(id)
    if (before === undefined) {
      refusedAt.set(id, now)
      return 'refuse'
    }
    if (before === 'accepted') tally.surplus += 1
    else {
      const latenessMs = now - (before + delayMs)
      if (latenessMs < 0) tally.early += 1
      tally.times.push(latenessMs)
      refusedAt.set(id, 'accepted')
    }
    return 'accept'
  }
}

const sentTime = /\r\nce-senttime: *(\d+)/i
const attemptNumber = /\r\nbarnabas-attempt: *(\d+)/i
const eventNumber = /\r\nce-id: *event-(\d+)/i

function valueIn(head: string, pattern: RegExp): string {
  return pattern.exec(head)?.[1] ?? ''
}
