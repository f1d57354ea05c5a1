/**
 * One question at a time, however many want to know: whoever asks while a question is under way goes with the next
 * one, because an answer that was asked for earlier may be older than the wish.
 */
export function sharedQuestion<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let underWay: Promise<unknown> = Promise.resolve()
  let next: Promise<Answer> | undefined

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
