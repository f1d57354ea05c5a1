import type * as z from 'zod'
import { didYouMean } from './nearest-name.ts'
import type { Report, SubscriptionProblem } from './subscription-field.ts'
import { field, isMapping, mapping, problemAt, readText, shown } from './subscription-field.ts'
import { readHeaders } from './subscription-headers.ts'

const destinationsMax = 1_000
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
  const example = '{ billing-api: { endpoint: https://billing.example.com/hook } }'
  if (!isMapping(root)) return invalid(`destinations: ${shown(root)} is not a mapping; write ${example}`)
  const entries = Object.entries(root)
  if (entries.length > destinationsMax) {
    return invalid(`destinations: there are ${entries.length}, more than ${destinationsMax}`)
  }
  const destinations = new Map<string, ApiDestination>()
  const problems: SubscriptionProblem[] = []
  for (const [name, value] of entries) {
    if (name.length < 2 || name.length > 127) {
      problems.push(problemAt([name], 'is not a name of 2 to 127 characters'))
      continue
    }
    const parsed = destinationSchema.safeParse(value)
    if (parsed.success) destinations.set(name, parsed.data)
    else problems.push(...parsed.error.issues.flatMap((issue) => problemsOf(name, issue)))
  }
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'destinations', destinations }
}

function problemsOf(name: string, issue: z.core.$ZodIssue): readonly SubscriptionProblem[] {
  const path = [name, ...issue.path.map((step) => (typeof step === 'number' ? step : String(step)))]
  if (issue.code !== 'unrecognized_keys') return [problemAt(path, issue.message)]
  const known = Object.keys(destinationSchema.shape)
  return issue.keys.map((key) => problemAt([...path, key], `is not a known field${didYouMean(key, known)}`))
}

function readEndpoint(value: unknown, report: Report): string | undefined {
  const endpoint = readText(value, report, endpointLengthMax)
  if (endpoint === undefined) return undefined
  const url = URL.parse(endpoint)
  if (url?.username || url?.password) return report('user name and password may not stand in the URL; write headers')
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return endpoint
  return report(`${shown(endpoint)} is not an http(s) URL`)
}

function invalid(message: string): ReadApiDestinations {
  return { kind: 'invalid', problems: [{ path: [], message }] }
}
