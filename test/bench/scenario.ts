import type { BenchProcess } from './bench-process.ts'
import type { Measured } from './measure.ts'

/** What every scenario is given. */
export interface Bench {
  readonly brokers: string
  readonly sink: BenchProcess
  readonly sinkOrigin: string
  readonly rounds: number
  /** Measured per run. */
  readonly events: number
  /** Where the CPU profiles of the measured dispatchers go. */
  readonly profileFolder: string | undefined
  say(line: string): void
}

export interface ScenarioResult {
  readonly scenario: string
  readonly title: string
  /** One row per measured system, one figure per round in the order of the rounds. */
  readonly rows: readonly { readonly system: string; readonly rounds: readonly Measured[] }[]
}
