import { batches } from './batches.ts'
import { comeAndGo } from './come-and-go.ts'
import { failingSink } from './failing-sink.ts'
import { healthySink } from './healthy-sink.ts'
import { latency } from './latency.ts'
import { lateness } from './lateness.ts'
import { allMatch, fewMatch } from './many-subscriptions.ts'
import { memory } from './memory.ts'
import { patterns } from './patterns.ts'
import { probations } from './probations.ts'
import { redrive } from './redrive.ts'
import type { Scenario } from './scenario.ts'
import { schemas } from './schemas.ts'
import { someFail } from './some-fail.ts'
import { troubledNeighbours } from './troubled-neighbours.ts'

export const scenarios: Readonly<Record<string, { readonly title: string; readonly run: Scenario }>> = {
  S1: { title: 'a healthy sink, beside H and N; structured mode; a filter', run: healthySink },
  S2: { title: '1 % of attempts fail and are delivered on their retry', run: someFail },
  S3: { title: 'ten subscriptions, one dead and one hanging', run: troubledNeighbours },
  S4: { title: 'every attempt fails', run: failingSink },
  S5: { title: 'latency at 1,000 events a second', run: latency },
  S6: { title: 'how late retries are', run: lateness },
  S7: { title: 'memory while a backlog is worked off', run: memory },
  S8: { title: 'a hundred subscriptions, every event matches all', run: allMatch },
  S9: { title: 'a hundred subscriptions, each takes 1 %; the cost of idle ones', run: fewMatch },
  S10: { title: 'processes come and go: how long events wait', run: comeAndGo },
  S11: { title: 'a hundred events in a request', run: batches },
  S12: { title: 'events converted from one schema to another', run: schemas },
  S13: { title: 'a thousand subscriptions on probation, beside the same with nothing to do', run: probations },
  S14: { title: 'dead letters sent again', run: redrive },
  S15: { title: 'a pattern of five conditions', run: patterns },
}
