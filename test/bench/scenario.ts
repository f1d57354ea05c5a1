import type { Figure } from './figure.ts'
import type { CountingSink } from './counting-sink.ts'
import type { ScriptedSink } from './scripted-sink.ts'
import type { Size } from './sizes.ts'

/** What every scenario is given. */
export interface Bench {
  readonly brokers: string
  /** Counts and answers at once: for whatever is measured in events per second. */
  readonly sink: CountingSink
  /** Answers as the scenario's path says. */
  readonly scriptedSink: ScriptedSink
  readonly size: Size
  /** Where the CPU profiles of the measured dispatchers go. */
  readonly profileFolder: string | undefined
  /** Progress, for who waits. */
  readonly say: (line: string) => void
}

/** What must be so whatever the machine: the bench fails where it is not. */
export interface Count {
  readonly what: string
  readonly expected: number
  readonly actual: number
}

export interface ScenarioResult {
  readonly figures: readonly Figure[]
  readonly counts: readonly Count[]
}

export type Scenario = (bench: Bench) => Promise<ScenarioResult>
