/**
 * One question at a time, however many want to know: whoever asks while a question is under way goes with the next
 * one, because an answer that was asked for earlier may be older than the wish.
 */
export function sharedQuestion(ask: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined

  return () => {
    next ??= underWay.then(() => {
      next = undefined
      const answer = ask()
      underWay = answer.catch(() => undefined)
      return answer
    })
    return next
  }
}
