import type * as z from 'zod'
import type { SubscriptionProblem } from './subscription-field.ts'
import { isMapping, problemAt, problemsOfIssue, shown } from './subscription-field.ts'

/** What a file of settings holds by name. */
export interface NamedEntries<Schema extends z.ZodType> {
  /** What they are called together, such as `clusters`. */
  readonly what: string
  /** A file with one of them, in one line. */
  readonly example: string
  readonly entriesMax: number
  /** What is wrong with a name, null for nothing. */
  readonly problemOfName: (name: string) => string | null
  readonly schema: Schema
  /** The names of the fields below this path of an entry. */
  readonly knownFields: (path: readonly (string | number)[]) => readonly string[]
}

/** Reads entries by name, already an object. Never throws, whatever the input; every problem names entry and field. */
export function readNamedEntries<Schema extends z.ZodType>(
  root: unknown,
  { what, example, entriesMax, problemOfName, schema, knownFields }: NamedEntries<Schema>,
): { readonly entries: ReadonlyMap<string, z.output<Schema>>; readonly problems: readonly SubscriptionProblem[] } {
  const entries = new Map<string, z.output<Schema>>()
  const invalid = (message: string) => ({ entries, problems: [{ path: [], message: `${what}: ${message}` }] })
  if (!isMapping(root)) return invalid(`${shown(root)} is not a mapping; write ${example}`)
  const written = Object.entries(root)
  if (written.length > entriesMax) return invalid(`there are ${written.length}, more than ${entriesMax}`)
  const problems: SubscriptionProblem[] = []
  for (const [name, value] of written) {
    const problem = problemOfName(name)
    if (problem !== null) {
      problems.push(problemAt([name], problem))
      continue
    }
    const parsed = schema.safeParse(value)
    if (parsed.success) entries.set(name, parsed.data)
    else {
      const found = parsed.error.issues.flatMap((issue) => problemsOfIssue(issue, knownFields))
      problems.push(...found.map(({ path, message }) => problemAt([name, ...path], message)))
    }
  }
  return { entries, problems }
}
