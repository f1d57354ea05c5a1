import { compileFilter, decodeEvent } from '@barnabas/core'
import type { CloudEvent } from '@barnabas/core'
import { benchRecord } from './events.ts'
import type { Scenario } from './scenario.ts'

const conditions = {
  source: [{ prefix: '/' }],
  type: [{ 'anything-but': ['refund', 'test'] }],
  data: { size: [{ numeric: ['>', 0, '<=', 1_000] }], client: [{ cidr: '10.0.0.0/8' }], bucket: ['photos'] },
}
const data = { bucket: 'photos', size: 500, client: '10.1.2.3', note: 'x'.repeat(200) }

/**
 * S15: what a pattern of five conditions costs an event, two of them about attributes and three about its data, which
 * it parses for them. Of one process and without Kafka: a share of S1 would be lost in how much S1 differs.
 */
export const patterns: Scenario = async ({ size, say }) => {
  const passes = compileFilter([], [{ pattern: conditions }])
  const value = Buffer.from(JSON.stringify(data))
  const count = size.events
  /** Made anew, for an event keeps what it was parsed to. */
  const events = () => Array.from({ length: count }, (_, index) => eventOf(index, value))
  let matched = 0
  const micros = (act: (event: CloudEvent) => void) => {
    const all = events()
    const before = process.cpuUsage()
    for (const event of all) act(event)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / count
  }
  const match = (event: CloudEvent) => {
    if (passes(event)) matched += 1
  }
  micros(match)
  matched = 0
  const rounds = Array.from({ length: size.rounds }, () => micros(match))
  say(`S15: ${rounds.map((each) => each.toFixed(2)).join(', ')} µs of CPU per event`)
  return await Promise.resolve({
    figures: [
      {
        scenario: 'S15',
        what: 'a pattern of five conditions: CPU per event',
        unit: 'µs',
        rounds,
        of: 'value',
        target: { kind: 'at most', limit: 5 },
      },
    ],
    counts: [{ what: 'S15: events that match', expected: count * size.rounds, actual: matched }],
  } as const)
}

function eventOf(index: number, value: Buffer): CloudEvent {
  const headers = Object.entries(benchRecord(index).headers).map(([name, text]) => [name, Buffer.from(text)] as const)
  const decoded = decodeEvent({ value, headers: Object.fromEntries(headers) })
  if (decoded.kind !== 'event') throw new Error(decoded.message)
  return decoded.event
}
