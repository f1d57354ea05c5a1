/** What ends the waiting of an attempt before its answer is there. */
export interface Cut {
  readonly happened: Promise<'time-out' | 'stop'>
  end(): void
}

/** One listener per signal, not one per attempt: a subscription has one signal and thousands of attempts. */
export function createCuts(): { of(signal: AbortSignal, timeoutMs: number): Cut } {
  const waiting = new WeakMap<AbortSignal, Set<() => void>>()

  function waitingOn(signal: AbortSignal): Set<() => void> {
    const known = waiting.get(signal)
    if (known !== undefined) return known
    const stops = new Set<() => void>()
    waiting.set(signal, stops)
    signal.addEventListener('abort', () => stops.forEach((stop) => stop()), { once: true })
    return stops
  }

  return {
    of(signal, timeoutMs) {
      const { promise, resolve } = Promise.withResolvers<'time-out' | 'stop'>()
      const stop = () => resolve('stop')
      const stops = waitingOn(signal)
      stops.add(stop)
      const timer = setTimeout(() => resolve('time-out'), timeoutMs)
      return {
        happened: promise,
        end() {
          clearTimeout(timer)
          stops.delete(stop)
        },
      }
    },
  }
}
