/** What verdicts of cut-off attempts may take to be written; one that cannot be written now is left to the next owner. */
const writeWithinMs = 1_000

/**
 * How whatever stops waits for what is in flight: up to `drainTimeoutMs` for its attempts, then they are cut off, and
 * a second more for their verdicts. Never longer: a record that cannot be written must not keep a deleted
 * subscription, or a process, from ending.
 */
export async function drain(idle: Promise<void>, drainTimeoutMs: number, cutOff: () => void): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      cutOff()
      timer = setTimeout(resolve, writeWithinMs)
    }, drainTimeoutMs)
  })
  await Promise.race([idle, limit])
  clearTimeout(timer)
}
