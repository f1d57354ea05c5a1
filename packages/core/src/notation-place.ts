import { didYouMean } from './nearest-name.ts'
import type { Report, SubscriptionProblem } from './subscription-field.ts'
import { dotted, isMapping, problemAt, readList, readText, shown } from './subscription-field.ts'

type Path = readonly (string | number)[]

/** Where in a document of another notation one of our fields comes from. */
export interface Origin {
  readonly ours: Path
  readonly theirs: Path
}

/** What a translation collects on its way. */
export interface Findings {
  /** Whose notation it is, by the name that messages give it. */
  readonly product: 'Event Grid' | 'EventBridge'
  readonly problems: SubscriptionProblem[]
  readonly warnings: string[]
  readonly origins: Origin[]
}

/** A value in a document, and the way to it. The answers of both products write null for what is not there: `undefined` here. */
export interface Place {
  readonly path: Path
  readonly value: unknown
  readonly findings: Findings
}

export function placeAt(parent: Place, step: string | number): Place {
  const { value, findings } = parent
  const held = typeof value === 'object' && value !== null && Object.hasOwn(value, step)
  const found = held ? (value as Readonly<Record<string | number, unknown>>)[step] : undefined
  return { path: [...parent.path, step], value: found ?? undefined, findings }
}

/** Says what is wrong at a place, or below it. */
export function reportAt({ path, findings }: Place): Report {
  return (message, ...below) => {
    findings.problems.push(problemAt([...path, ...below], message))
    return undefined
  }
}

export function warnAt({ path, findings }: Place, message: string): void {
  findings.warnings.push(`${dotted(path)}: ${message}`)
}

/** Remembers that our field comes from this place, so that what the schema says of it is told in the document's words. */
export function comesFrom({ path, findings }: Place, ...ours: Path): void {
  findings.origins.push({ ours, theirs: path })
}

/** The fields of a mapping by their names; an unknown one is refused by name. All are absent where there is no mapping. */
export function fieldsAt<const Name extends string>(
  place: Place,
  known: readonly Name[],
): Readonly<Record<Name, Place>> {
  const { value } = place
  if (value !== undefined && !isMapping(value)) reportAt(place)(`${shown(value)} is not a mapping of fields to values`)
  for (const name of isMapping(value) ? Object.keys(value) : []) {
    if (known.some((each) => each === name)) continue
    reportAt(place)(`is not a field of ${place.findings.product} that is known here${didYouMean(name, known)}`, name)
  }
  const fields = known.map((name) => [name, isMapping(value) ? placeAt(place, name) : absentAt(place, name)] as const)
  return Object.fromEntries(fields) as Record<Name, Place>
}

/**
 * As `fieldsAt`, of a mapping whose `inner` fields stand in its `properties`, or beside `outer` as the output of
 * Azure's command line has them.
 */
export function fieldsWithProperties<const Outer extends string, const Inner extends string>(
  place: Place,
  outer: readonly Outer[],
  inner: readonly Inner[],
): Readonly<Record<Outer | Inner, Place>> {
  const wrapper = placeAt(place, 'properties')
  if (wrapper.value === undefined) {
    return fieldsAt<Outer | Inner | 'properties'>(place, [...outer, ...inner, 'properties'])
  }
  // `Outer` comes last: `properties` of `properties` is not known.
  return { ...fieldsAt(wrapper, inner), ...fieldsAt<Outer | 'properties'>(place, [...outer, 'properties']) }
}

function absentAt({ path, findings }: Place, name: string): Place {
  return { path: [...path, name], value: undefined, findings }
}

/** A text without the blanks around it; undefined when absent. */
export function textAt(place: Place, lengthMax: number): string | undefined {
  if (place.value === undefined) return undefined
  const value = typeof place.value === 'string' ? place.value.trim() : place.value
  return readText(value, reportAt(place), lengthMax)
}

/** One of a few words, without the blanks around it; `ignoringCase` gives it in the spelling of `words`. */
export function wordAt<const Word extends string>(
  place: Place,
  words: readonly Word[],
  { ignoringCase = false }: { readonly ignoringCase?: boolean } = {},
): Word | undefined {
  if (place.value === undefined) return undefined
  const written = typeof place.value === 'string' ? place.value.trim() : place.value
  const spelled = (text: unknown) => (ignoringCase && typeof text === 'string' ? text.toLowerCase() : text)
  const word = words.find((each) => spelled(each) === spelled(written))
  if (word !== undefined) return word
  return reportAt(place)(`${shown(written)} is not known; one of ${words.join(', ')}${didYouMean(written, words)}`)
}

export function booleanAt(place: Place): boolean | undefined {
  if (place.value === undefined || typeof place.value === 'boolean') return place.value
  return reportAt(place)(`${shown(place.value)} is neither true nor false`)
}

/** The entries of a list; none when it is absent. */
export function entriesAt(place: Place, lengthMax: number, example: string): readonly Place[] {
  if (place.value === undefined) return []
  const list = readList(place.value, reportAt(place), lengthMax, example)
  return (list ?? []).map((_entry, index) => placeAt(place, index))
}

/** The same problem where, and in the words in which, it stands in the document that was translated. */
export function atOrigin(problem: SubscriptionProblem, origins: readonly Origin[]): SubscriptionProblem {
  const { path, message } = problem
  const leading = origins.filter(({ ours }) => ours.every((step, index) => path[index] === step))
  const origin = leading.toSorted((one, other) => other.ours.length - one.ours.length)[0]
  const prefix = `${dotted(path)}: `
  if (origin === undefined || !message.startsWith(prefix)) return problem
  return problemAt([...origin.theirs, ...path.slice(origin.ours.length)], message.slice(prefix.length))
}
