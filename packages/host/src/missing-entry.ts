import { didYouMean } from '@barnabas/core'

export interface MissingEntry {
  /** Such as `cluster`. */
  readonly what: string
  readonly name: string
  /** Of the environment: it names the file. */
  readonly variable: string
  /** What stands in the file; null without one. */
  readonly names: readonly string[] | null
  /** The whole entry as it would be written. */
  readonly example: string
}

/** Says in one sentence that no file has an entry of that name, and what to write. */
export function missingEntry({ what, name, variable, names, example }: MissingEntry): string {
  const mend = `write \`${example}\` into that file, for every service`
  if (names === null) return `the ${what} ${name} is not known: set ${variable}, and ${mend}`
  return `the ${what} ${name} is not in ${variable}${didYouMean(name, names)}; ${mend}`
}
