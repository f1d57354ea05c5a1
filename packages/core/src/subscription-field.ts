import * as z from 'zod'
import { didYouMean } from './nearest-name.ts'

/**
 * What is wrong with one field of a subscription. `path` leads to it in the document, so that the command line can
 * name the line; `message` is a whole sentence that begins with the field: "retry.schedule: "evnt-grid" is not …".
 */
export interface SubscriptionProblem {
  readonly path: readonly (string | number)[]
  readonly message: string
}

/** Says what is wrong with the value that is being read, or with something below it; a reader can return its answer. */
export type Report = (message: string, ...below: readonly (string | number)[]) => undefined

/**
 * A field that is read by a function of ours: it returns what was read, or `undefined` after a report. So each
 * message names value, allowed values and mend, which zod's own cannot.
 */
export function field<Value>(read: (value: unknown, report: Report) => Value | undefined) {
  return z.unknown().transform((value, context): Value => {
    const result = read(value, (message, ...below) => {
      context.addIssue({ code: 'custom', message, path: [...below], input: value })
      return undefined
    })
    return result as Value // after a report nobody sees it: the parse fails
  })
}

/** A mapping with these fields and no others. */
export function mapping<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'invalid_type' ? `${shown(issue.input)} is not a mapping of fields to values` : undefined,
  })
}

/** A value as a message shows it: JSON of at most 80 characters. */
export function shown(value: unknown): string {
  let text: string | undefined
  try {
    text = JSON.stringify(value)
  } catch {
    // A cycle or a bigint: its type must do.
  }
  const printed = text ?? (value === undefined ? 'nothing' : `a ${typeof value}`)
  return printed.length > 80 ? `${printed.slice(0, 79)}…` : printed
}

/** A path as people write it: `filters[0].exact.type`. */
export function dotted(path: readonly (string | number)[]): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else if (/^\w{1,80}$/.test(step)) text += text === '' ? step : `.${step}`
    else text += `[${shown(step)}]`
  }
  return text
}

export function problemAt(path: readonly (string | number)[], message: string): SubscriptionProblem {
  return { path, message: `${path.length === 0 ? 'subscription' : dotted(path)}: ${message}` }
}

/** What zod found, with a sentence without its path; `knownFields` names the fields below a path. */
export function problemsOfIssue(
  issue: z.core.$ZodIssue,
  knownFields: (path: readonly (string | number)[]) => readonly string[],
): readonly SubscriptionProblem[] {
  const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  const known = knownFields(path)
  return issue.keys.map((key) => ({ path: [...path, key], message: `is not a known field${didYouMean(key, known)}` }))
}

/** Reads a text of 1 to `lengthMax` characters. */
export function readText(value: unknown, report: Report, lengthMax: number, below: readonly number[] = []) {
  if (value === undefined) return report('is missing', ...below)
  if (typeof value === 'number' || typeof value === 'boolean') {
    return report(`${shown(value)} is not text; put it in quotes: "${value}"`, ...below)
  }
  if (typeof value !== 'string') return report(`${shown(value)} is not text`, ...below)
  if (value === '') return report('is empty', ...below)
  if (value.length > lengthMax) {
    return report(`${shown(value)} has ${value.length} characters, more than ${lengthMax}`, ...below)
  }
  return value
}

/** Reads a whole number within bounds. */
export function readNumber(value: unknown, report: Report, min: number, max: number) {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  return report(`${shown(value)} is not a whole number from ${min} to ${max}`)
}

/** Reads a list of at most `lengthMax` entries. */
export function readList(value: unknown, report: Report, lengthMax: number, example: string) {
  if (value === undefined) return report('is missing')
  if (!Array.isArray(value)) return report(`${shown(value)} is not a list; write ${example}`)
  if (value.length > lengthMax) return report(`has ${value.length} entries, more than ${lengthMax}`)
  return value as readonly unknown[]
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
