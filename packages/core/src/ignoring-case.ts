/**
 * A text as it is compared where case does not count: in upper case and in no language, as .NET's ordinal comparison
 * does. Upper and not lower, because the lower case of Σ depends on its place in the word, so that `ΟΔΟΣ` would not
 * begin `ΟΔΟΣΑ`.
 */
export function ignoringCase(text: string): string {
  return text.toUpperCase()
}
