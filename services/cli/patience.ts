import { Refusal } from './refusal.ts'

/** How long Kafka may be in trouble before a person hears of it. */
const troubleMs = 10_000

/** Ends the wait for a reader that goes on trying for ever: a service may wait, a person wants to know. */
export interface Patience {
  /** What keeps the reader from reading; null when it reads again. */
  onTrouble(trouble: string | null): void
  /** What `work` gives, unless trouble lasts too long: then a `Refusal` that names it. */
  while<Result>(work: Promise<Result>): Promise<Result>
}

export function createPatience(limitMs: number = troubleMs): Patience {
  const over = Promise.withResolvers<never>()
  over.promise.catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  return {
    onTrouble(trouble) {
      clearTimeout(timer)
      if (trouble !== null) timer = setTimeout(() => over.reject(new Refusal(trouble)), limitMs)
    },
    async while(work) {
      try {
        return await Promise.race([work, over.promise])
      } finally {
        clearTimeout(timer)
        work.catch(() => undefined)
      }
    },
  }
}
