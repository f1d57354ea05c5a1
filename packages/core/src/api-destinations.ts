import type * as z from 'zod'
import { readNamedEntries } from './named-entries.ts'
import type { Report, SubscriptionProblem } from './subscription-field.ts'
import { field, mapping, readText, shown } from './subscription-field.ts'
import { readHeaders } from './subscription-headers.ts'

const endpointLengthMax = 2_048

const destinationSchema = mapping({
  endpoint: field(readEndpoint),
  headers: field(readHeaders).optional(),
})

/** One entry of BARNABAS_DESTINATIONS_FILE: a URL, and what is sent to it besides events, secrets by their names. */
export type ApiDestination = Readonly<z.output<typeof destinationSchema>>

/** By name. */
export type ApiDestinations = ReadonlyMap<string, ApiDestination>

export type ReadApiDestinations =
  | { readonly kind: 'destinations'; readonly destinations: ApiDestinations }
  | { readonly kind: 'invalid'; readonly problems: readonly SubscriptionProblem[] }

/**
 * Reads what BARNABAS_DESTINATIONS_FILE holds, already an object: at most 1,000 names of 2 to 127 characters, each with an
 * `endpoint` and maybe `headers`. Never throws, whatever the input.
 */
export function readApiDestinations(root: unknown): ReadApiDestinations {
  const { entries, problems } = readNamedEntries(root, {
    what: 'destinations',
    example: '{ billing-api: { endpoint: https://billing.example.com/hook } }',
    entriesMax: 1_000,
    problemOfName: ({ length }) => (length < 2 || length > 127 ? 'is not a name of 2 to 127 characters' : null),
    schema: destinationSchema,
    knownFields: () => Object.keys(destinationSchema.shape),
  })
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'destinations', destinations: entries }
}

function readEndpoint(value: unknown, report: Report): string | undefined {
  const endpoint = readText(value, report, endpointLengthMax)
  if (endpoint === undefined) return undefined
  const url = URL.parse(endpoint)
  if (url?.username || url?.password) return report('user name and password may not stand in the URL; write headers')
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return endpoint
  return report(`${shown(endpoint)} is not an http(s) URL`)
}
