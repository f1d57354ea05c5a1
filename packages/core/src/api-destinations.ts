import type * as z from 'zod'
import { readHttpUrl } from './http-url.ts'
import { readNamedEntries } from './named-entries.ts'
import type { SubscriptionProblem } from './subscription-field.ts'
import { field, mapping } from './subscription-field.ts'
import { readHeaders } from './subscription-headers.ts'

const endpointLengthMax = 2_048

const destinationSchema = mapping({
  endpoint: field((value, report) => readHttpUrl(value, report, endpointLengthMax, 'headers')),
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
