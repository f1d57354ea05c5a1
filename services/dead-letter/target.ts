import type { KafkaRecord } from '@barnabas/core'

/** What one try to write a dead letter came to. Messages are one line without secrets. */
export type TargetWrite =
  | { readonly kind: 'accepted' }
  /** It may pass: away, overloaded, or something that an operator mends. It is tried again, without end. */
  | { readonly kind: 'unavailable'; readonly message: string }
  /** No retry helps: the dead letter stays in its topic and is counted. `code` is the target's own. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }

/** Where dead letters are carried to: the port; `open-target.ts` has the table of what is behind it. */
export interface Target {
  /**
   * Makes one try for each dead letter, and says of each what came of it, in their order. One that is accepted is durable
   * there. Never rejects. A dead letter may be written twice: an answer that was lost on its way looks the same as none.
   */
  write(letters: readonly [KafkaRecord, ...KafkaRecord[]], signal: AbortSignal): Promise<readonly TargetWrite[]>
  /** Gives up what is under way, after a second at most. */
  close(): Promise<void>
}
