import * as z from 'zod'
import { jsonOf } from './json-text.ts'

const refusalSchema = z.object({
  /** As `targetText` writes it. */
  target: z.string(),
  topic: z.string(),
  partition: z.int().nonnegative(),
  offset: z.int().nonnegative(),
  /** Null where the dead letter names none. */
  subscription: z.string().nullable(),
  /** The target's own. */
  code: z.string(),
  /** One line, in the target's words. */
  message: z.string(),
  /** RFC 3339 in UTC with milliseconds. */
  at: z.string(),
})

/** That a target takes the dead letter at this position of a dead-letter topic for good never (row B7). */
export type TargetRefusal = Readonly<z.output<typeof refusalSchema>>

/** Key and value of a refusal in `barnabas.refusals`: one that is said twice stands there once. */
export function targetRefusalRecord(refusal: TargetRefusal): { readonly key: Buffer; readonly value: Buffer } {
  const { target, topic, partition, offset } = refusal
  return {
    key: Buffer.from(`${target} ${topic}/${partition}/${offset}`),
    value: Buffer.from(JSON.stringify(refusal)),
  }
}

/** Null for what is none, whatever it is, and for one that was removed. */
export function parseTargetRefusal(value: Buffer | null): TargetRefusal | null {
  return value === null ? null : (refusalSchema.safeParse(jsonOf(value)).data ?? null)
}
