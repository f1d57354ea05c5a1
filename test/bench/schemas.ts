import { withBacklog } from './backlog.ts'
import { eventGridRecord } from './events.ts'
import { measureDispatcher } from './measure-dispatcher.ts'
import type { Measured } from './measure.ts'
import { inTurns } from './rounds.ts'
import type { Scenario } from './scenario.ts'

const spare = 1.15
const inputSchemaMapping = {
  id: { sourceField: 'id' },
  eventType: { sourceField: 'eventType' },
  subject: { sourceField: 'subject', defaultValue: '' },
}

/**
 * S12: the backlog of S1, and the same events in Event Grid's schema: sent on as they are, converted to CloudEvents, and
 * taken for a custom schema and put into Event Grid's envelope. S1 is measured in turns with them. What a conversion
 * costs is what it takes beyond the same events unconverted.
 */
export const schemas: Scenario = async (bench) => {
  const { size } = bench
  const stretch = { warmUp: size.warmUp, events: size.events }
  const needed = Math.ceil((size.warmUp + size.events) * spare)
  const run = (topic: string, fields: Record<string, unknown>) => () =>
    measureDispatcher(bench, { topic, answer: '200', fields }, stretch)

  const results = await withBacklog(bench, needed, ({ topic: cloudEvents }) =>
    withBacklog(
      bench,
      needed,
      ({ topic }) =>
        inTurns(
          bench,
          {
            plain: run(cloudEvents, {}),
            asIs: run(topic, { mode: 'structured', input: 'event-grid', schema: 'EventGridSchema' }),
            converted: run(topic, { mode: 'structured', input: 'event-grid', schema: 'CloudEventSchemaV1_0' }),
            wrapped: run(topic, {
              mode: 'structured',
              input: 'custom',
              schema: 'EventGridSchema',
              inputSchemaMapping,
            }),
          },
          (name, { cpuMicrosPerEvent }) => `S12, ${name}: ${cpuMicrosPerEvent.toFixed(1)} µs of CPU per event`,
        ),
      eventGridRecord,
    ),
  )

  const cpu = (rounds: readonly Measured[]) => rounds.map(({ cpuMicrosPerEvent }) => cpuMicrosPerEvent)
  const asIs = cpu(results.asIs)
  const above = (rounds: readonly Measured[]) => cpu(rounds).map((micros, round) => micros - (asIs[round] ?? NaN))
  const ofS1 = {
    scenario: 'S12',
    unit: 'µs',
    of: 'ratio',
    baseline: { name: 'S1', rounds: cpu(results.plain) },
  } as const
  const target = { kind: 'at most', limit: 0.3 } as const
  return {
    figures: [
      { ...ofS1, what: "Event Grid's schema as it is: CPU per event", rounds: asIs },
      { ...ofS1, what: 'the same to CloudEvents: CPU per event', rounds: cpu(results.converted) },
      { ...ofS1, what: 'to CloudEvents: what the conversion costs', rounds: above(results.converted), target },
      { ...ofS1, what: "custom to Event Grid's: CPU per event", rounds: cpu(results.wrapped) },
      { ...ofS1, what: "custom to Event Grid's: what the conversion costs", rounds: above(results.wrapped), target },
    ],
    counts: [],
  }
}
