/**
 * How whatever stops waits for what is in flight: up to `drainMs` for its attempts, then they are cut off, and up to
 * `writeMs` more for their verdicts. Never longer: a record that cannot be written must not keep a process, or a
 * deleted subscription, from ending. What is not written by then is left to the next owner.
 */
export async function drain(idle: Promise<void>, limits: DrainLimits, cutOff: () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      cutOff()
      timer = setTimeout(resolve, limits.writeMs)
    }, limits.drainMs)
  })
  await Promise.race([idle, limit])
  clearTimeout(timer)
}

export interface DrainLimits {
  readonly drainMs: number
  readonly writeMs: number
}

/** When the process ends, which may not take long. */
export const writeBeforeExitMs = 1_000
/** When the process goes on: longer than a write to a missing topic takes to fail and be tried again elsewhere. */
export const writeBeforeLeavingMs = 15_000
