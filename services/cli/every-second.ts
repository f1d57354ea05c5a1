const progressEveryMs = 1_000

/** Passes on one call a second, so that progress is seen and does not scroll away what came before it. */
export function everySecond<Arguments extends readonly unknown[]>(
  report: (...args: Arguments) => void,
): (...args: Arguments) => void {
  let last = Date.now()
  return (...args) => {
    const now = Date.now()
    if (now - last < progressEveryMs) return
    last = now
    report(...args)
  }
}
