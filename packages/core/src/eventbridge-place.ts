import { didYouMean } from './nearest-name.ts'
import type { Place } from './notation-place.ts'
import { placeAt, reportAt, warnAt } from './notation-place.ts'
import { isMapping } from './subscription-field.ts'

/** The names of a network in Alibaba's cloud, which have no meaning here. */
export const networkFields = ['Network', 'NetworkType', 'VpcId', 'VSwitchIds', 'SecurityGroupId', 'RegionId'] as const

/**
 * A value that the RPC spelling writes as JSON in a string. What does not parse is never shown: a password may stand
 * in it.
 */
export function openedAt(place: Place): Place {
  if (typeof place.value !== 'string') return place
  if (place.value.trim() === '') return { ...place, value: undefined }
  try {
    return { ...place, value: (JSON.parse(place.value) as unknown) ?? undefined }
  } catch (error) {
    const at = /at position \d+/.exec(error instanceof Error ? error.message : '')?.[0]
    reportAt(place)(`is text that is not JSON${at === undefined ? '' : ` (${at})`}`)
    return { ...place, value: undefined }
  }
}

/** The mapping at a place, undefined where none stands; what stands there instead is refused and not shown. */
export function mappingAt(place: Place, example: string): Readonly<Record<string, unknown>> | undefined {
  if (place.value === undefined || isMapping(place.value)) return place.value
  return reportAt(place)(`is not a mapping of fields to values; write ${example}`)
}

/**
 * The one `Source…Parameters` or `Sink…Parameters` that stands in a mapping and is translated; `others` says of each other
 * that EventBridge knows what to do instead.
 */
export function onlyParametersAt<Name extends string>(
  written: Place,
  kind: 'Source' | 'Sink',
  translated: readonly Name[],
  others: Readonly<Record<string, string>>,
): { readonly name: Name; readonly parameters: Place } | undefined {
  const example = `{ "${kind}${kind === 'Source' ? 'Kafka' : 'Https'}Parameters": { … } }`
  const problems = written.findings.problems.length
  const place = openedAt(written)
  if (written.findings.problems.length > problems) return undefined
  if (place.value === undefined) return reportAt(place)(`is missing; write ${example}`)
  const value = mappingAt(place, example)
  if (value === undefined) return undefined
  // An answer of the API writes null for every other kind.
  const names = Object.keys(value).filter((name) => value[name] !== null)
  const [name, ...more] = names
  if (name === undefined) return reportAt(place)(`is empty; write ${example}`)
  if (more.length > 0) return reportAt(place)(`holds ${list(names)}; exactly one is possible`)
  const found = translated.find((each) => each === name)
  if (found === undefined && !Object.hasOwn(others, name)) {
    const known = [...translated, ...Object.keys(others)]
    return reportAt(place)(`is not a field of EventBridge that is known here${didYouMean(name, known)}`, name)
  }
  const parameters = openedAt(placeAt(place, name))
  if (mappingAt(parameters, '{ … }') === undefined) return undefined
  return found === undefined ? reportAt(parameters)(others[name]!) : { name: found, parameters }
}

function list(names: readonly string[]): string {
  const shownNames = names.slice(0, 3).map((name) => JSON.stringify(name.slice(0, 80)))
  return `${shownNames.join(', ')}${names.length > 3 ? ' …' : ''}`
}

/** Whether something stands there; EventBridge's own forms write an empty text or mapping where nothing is meant. */
export function isSaid({ value }: Place): boolean {
  if (Array.isArray(value)) return value.length > 0
  return value !== undefined && value !== '' && !(isMapping(value) && Object.keys(value).length === 0)
}

/** One warning for all of the places that have no meaning here. */
export function ignoreAt(places: readonly Place[], why: string): void {
  const said = places.filter(isSaid)
  const [first] = said
  if (first === undefined) return
  const names = said.map(({ path }) => String(path.at(-1)))
  warnAt({ ...first, path: first.path.slice(0, -1) }, `${names.join(', ')} ${names.length > 1 ? 'are' : 'is'} ${why}`)
}

/** Refuses a secret without showing it. */
export function refuseSecretAt(place: Place, mend: string): void {
  if (!isSaid(place)) return
  reportAt(place)(`may not stand here, because everybody who reads topics sees it; take it out, and ${mend}`)
}
