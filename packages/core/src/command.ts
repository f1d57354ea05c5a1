import * as z from 'zod'
import { jsonOf } from './json-text.ts'
import { saidAtSchema } from './pause.ts'

const said = {
  subscription: z.string().min(1).max(249),
  /** Who said it, for the record of what operators did. */
  by: z.string().max(1_000),
  /** RFC 3339 in UTC with milliseconds. */
  at: saidAtSchema,
}

/** Which block is meant: one that comes later at the same event has another `since`. */
const blockSchema = z.object({
  topic: z.string().min(1).max(249),
  partition: z.int().nonnegative(),
  offset: z.int().nonnegative(),
  since: z.string().max(100),
})

/** A place at which a subscription is blocked, as it stands in its status. */
export type BlockPlace = Readonly<z.output<typeof blockSchema>>

const commandSchema = z.discriminatedUnion('command', [
  z.object({
    ...said,
    command: z.literal('callback'),
    /** Which handshake is meant: the SHA-256 of its token, in hexadecimal, so that reading the topic grants nothing. */
    validation: z.string().regex(/^[0-9a-f]{64}$/),
    /** Requests per minute that the receiver allows; null: it named none, or any. */
    allowedRate: z.int().positive().nullable(),
  }),
  /** Take it up again, whatever has ended or paused it, and end its probation. */
  z.object({
    ...said,
    command: z.literal('start'),
    /** With it the event that it is blocked at is attempted again, with a fresh schedule. */
    block: blockSchema.optional(),
  }),
  /** Nothing of it is to be attempted until somebody says `start`. */
  z.object({
    ...said,
    command: z.literal('pause'),
    /** Which life of the id is meant; absent: the one that began before `at`. */
    generation: z.int().nonnegative().optional(),
  }),
  /** Go on without the event that it is blocked at, which becomes a dead letter. */
  z.object({ ...said, command: z.literal('skip'), block: blockSchema }),
  /** For the record (row B8): dead letters are being sent again. `subscription` is what was selected, null for any. */
  z.object({
    ...said,
    subscription: said.subscription.nullable(),
    command: z.literal('redrive'),
    /** What else was selected, as it was written on the command line. */
    selection: z.record(z.string(), z.string().max(1_000)),
    /** How many were sent, null in the record that is written before the first one is. */
    sent: z.int().nonnegative().nullable(),
  }),
  /** For the record (row B8): the subscription was deleted. */
  z.object({ ...said, command: z.literal('delete') }),
  /** No retry can help: a process has seen so, and whoever runs it shall end it (`Start Failed`) for this reason. */
  z.object({
    ...said,
    command: z.literal('fail'),
    generation: z.int().nonnegative(),
    revision: z.int().nonnegative(),
    reason: z.string().max(2_000),
  }),
])

/** One record of `barnabas.commands`: what was said to the services; the answer is seen in the status (interface, "Topics"). */
export type Command = Readonly<z.output<typeof commandSchema>>

/** A command of a later version, or damage, is null: nobody can act on it. */
export function parseCommand(value: Buffer | null): Command | null {
  if (value === null) return null
  return commandSchema.safeParse(jsonOf(value)).data ?? null
}
