import type { Measured } from './measure.ts'
import type { ScenarioResult } from './scenario.ts'

/** One row per system: medians over the rounds, and the median of each round's ratio to the baselines beside it. */
export interface TableRow {
  readonly scenario: string
  readonly system: string
  readonly eventsPerSecond: number
  readonly cpuMicrosPerEvent: number
  readonly residentMegabytes: number
  /** This system's figure over the baseline's of the same round; by the name of the baseline. */
  readonly cpuRatio: Readonly<Record<string, number>>
  readonly speedRatio: Readonly<Record<string, number>>
}

const baselines = ['H', 'N', 'S1']

export function tableRows({ scenario, rows }: ScenarioResult): readonly TableRow[] {
  return rows.map(({ system, rounds }) => {
    const ratio = (figure: keyof Measured) =>
      Object.fromEntries(
        rows
          .filter((row) => baselines.includes(row.system) && row.system !== system)
          .map((row) => [row.system, median(rounds.map((each, round) => each[figure] / row.rounds[round]![figure]))]),
      )
    return {
      scenario,
      system,
      eventsPerSecond: Math.round(median(rounds.map((each) => each.eventsPerSecond))),
      cpuMicrosPerEvent: median(rounds.map((each) => each.cpuMicrosPerEvent)),
      residentMegabytes: Math.round(Math.max(...rounds.map((each) => each.residentMegabytes))),
      cpuRatio: ratio('cpuMicrosPerEvent'),
      speedRatio: ratio('eventsPerSecond'),
    }
  })
}

export function tableText(rows: readonly TableRow[]): string {
  const ratios = baselines.map((name) => `× ${name}`)
  const head = ['', 'system', 'CPU µs/event', ...ratios, 'events/s', ...ratios, 'MB max']
  const cells = rows.map((row) => [
    row.scenario,
    row.system,
    row.cpuMicrosPerEvent.toFixed(1),
    ...baselines.map((name) => row.cpuRatio[name]?.toFixed(2) ?? ''),
    String(row.eventsPerSecond),
    ...baselines.map((name) => row.speedRatio[name]?.toFixed(2) ?? ''),
    String(row.residentMegabytes),
  ])
  const widths = head.map((_, column) => Math.max(...[head, ...cells].map((line) => line[column]!.length)))
  return [head, ...cells]
    .map((line) =>
      line
        .map((cell, column) => (column < 2 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  '),
    )
    .join('\n')
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
