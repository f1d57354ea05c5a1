import type { Config } from './config.ts'
import type { EnvironmentReading } from './environment.ts'

/**
 * Why a process cannot start, in words for the person who started it: `runService` prints the message alone,
 * without a stack, and ends with status 1. Everything else that is thrown is a defect of ours and shows its stack.
 */
export class StartupError extends Error {
  override readonly name = 'StartupError'
}

/** The configuration and its warnings; throws a `StartupError` with every problem, a line each. */
export function usableConfig(reading: EnvironmentReading): { config: Config; warnings: readonly string[] } {
  if (reading.kind === 'invalid') throw new StartupError(reading.problems.join('\n'))
  return { config: reading.config, warnings: reading.warnings }
}
