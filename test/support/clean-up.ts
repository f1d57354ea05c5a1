import { afterAll } from 'vitest'

/**
 * Registers steps that end what a file opens while it is being set up. They run in reverse order after its tests,
 * also when the set-up failed half-way, and go on when one of them fails. To be called at the top of a file.
 */
export function cleanUpAfterAll(): (step: () => Promise<unknown>) => void {
  const steps: (() => Promise<unknown>)[] = []
  afterAll(async () => {
    const failures: unknown[] = []
    for (const step of steps.toReversed()) await step().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('; '))
  })
  return (step) => void steps.push(step)
}
