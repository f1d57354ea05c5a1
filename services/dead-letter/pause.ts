/** Waits, until `signal` is given at the latest. */
export function pause(pauseMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, signal.aborted ? 0 : pauseMs)
    signal.addEventListener('abort', end)
  })
}
