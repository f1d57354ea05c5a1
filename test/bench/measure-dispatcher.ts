import { withBarnabas } from './barnabas-process.ts'
import type { Answer } from './counting-sink.ts'
import { measure } from './measure.ts'
import type { Measured, Stretch } from './measure.ts'
import type { Bench } from './scenario.ts'

export const concurrency = 256

export interface MeasuredSubscription {
  readonly topic: string
  readonly answer: Answer
  readonly fields?: Readonly<Record<string, unknown>>
}

/** One pinned dispatcher with one subscription to the topic, at the concurrency of S1 unless its fields say otherwise. */
export function measureDispatcher(
  bench: Bench,
  { topic, answer, fields = {} }: MeasuredSubscription,
  stretch: Stretch,
): Promise<Measured> {
  const subscription = {
    id: 'bench',
    topics: [topic],
    sink: bench.sink.url(answer),
    from: 'earliest',
    concurrency,
    // Nothing that failed comes back while it is measured.
    retry: { schedule: ['10m'] },
    // Where all attempts fail, what is measured is what becomes of them.
    ...(answer === '200' ? {} : { probation: 'none' }),
    ...fields,
  }
  return withBarnabas(
    bench,
    { services: ['dispatcher'], subscriptions: [subscription], isPinned: true },
    ({ processes }) => measure(() => bench.sink.received(), processes, stretch),
  )
}
