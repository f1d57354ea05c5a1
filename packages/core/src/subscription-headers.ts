import { headersMax, headerValueProblem } from './delivery-attributes.ts'
import type { DeliveryAttribute } from './delivery-attributes.ts'
import { parseJsonPath } from './json-path.ts'
import type { Report } from './subscription-field.ts'
import { isMapping, shown } from './subscription-field.ts'

export type WrittenHeader = string | { readonly secret: string } | { readonly path: string }

const nameLengthMax = 256
/** RFC 9110, §5.6.2. */
const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const secretPattern = /^[A-Z][A-Z0-9_]{0,63}$/

const reservedPrefixes = ['aeg-', 'ce-', 'ce_', 'barnabas-', 'webhook-', 'proxy-']
/** What belongs to HTTP itself, to the body, or says who calls: one of these could make another request of ours. */
const reservedNames = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'origin',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
])

/** Reads `headers` (row A20): at most 10, none of them one of Barnabas's, Event Grid's or HTTP's own. */
export function readHeaders(value: unknown, report: Report): Readonly<Record<string, WrittenHeader>> | undefined {
  if (!isMapping(value)) return report(`${shown(value)} is not a mapping; write { X-Team: billing }`)
  const entries = Object.entries(value)
  if (entries.length > headersMax) return report(`has ${entries.length} headers, more than ${headersMax}`)
  const known = new Map<string, string>()
  for (const [name, header] of entries) {
    const before = known.get(name.toLowerCase())
    if (before !== undefined) return report(`is ${shown(before)} again; case does not count in names of headers`, name)
    known.set(name.toLowerCase(), name)
    const nameProblem = problemOfHeaderName(name)
    if (nameProblem !== null) return report(nameProblem, name)
    if (!isHeader(header, name, report)) return undefined
  }
  return Object.fromEntries(entries) as Record<string, WrittenHeader>
}

/** What is wrong with the name of a header of one's own; null for nothing. */
export function problemOfHeaderName(name: string): string | null {
  if (!tokenPattern.test(name)) return 'is not the name of a header; letters, digits and "-", such as X-Team'
  if (name.length > nameLengthMax) return `has ${name.length} characters, more than ${nameLengthMax}`
  const lowerCase = name.toLowerCase()
  const prefix = reservedPrefixes.find((each) => lowerCase.startsWith(each))
  if (prefix !== undefined) return `is reserved, as every name that begins with ${prefix} is; choose another`
  return reservedNames.has(lowerCase) ? 'is reserved: it is set with the request; choose another' : null
}

/** The value is not shown: whoever mistypes a secret must not find it in a log. */
function isHeader(header: unknown, name: string, report: Report): header is WrittenHeader {
  const isWrong = (message: string): false => {
    report(message, name)
    return false
  }
  if (typeof header === 'number' || typeof header === 'boolean') {
    return isWrong(`${shown(header)} is not text; put it in quotes: "${header}"`)
  }
  if (typeof header === 'string') {
    const problem = headerValueProblem(header)
    return problem === null ? true : isWrong(problem)
  }
  const [kind, ...others] = isMapping(header) ? Object.keys(header) : []
  if (!isMapping(header) || others.length > 0 || (kind !== 'secret' && kind !== 'path')) {
    return isWrong('is neither text nor { secret: NAME } nor { path: $.data.x }')
  }
  const text = header[kind]
  if (kind === 'secret') {
    if (typeof text === 'string' && isSecretName(text)) return true
    return isWrong(
      'the name of a secret is upper-case letters, digits and "_", such as BILLING_KEY, and does not end in _FILE',
    )
  }
  if (typeof text === 'string' && parseJsonPath(text) !== null) return true
  return isWrong(`${shown(text)} is not a path; write names joined by dots, such as $.data.customer['e-mail'][0]`)
}

/** Whether `{ secret: … }` may name it: BARNABAS_SECRET_<NAME> and its `_FILE` form would be variables. */
export function isSecretName(name: string): boolean {
  return secretPattern.test(name) && !name.endsWith('_FILE')
}

/** What was written, as requests need it. */
export function deliveryAttributesOf(
  headers: Readonly<Record<string, WrittenHeader>> | undefined,
): readonly DeliveryAttribute[] {
  return Object.entries(headers ?? {}).map(([name, header]): DeliveryAttribute => {
    if (typeof header === 'string') return { kind: 'static', name, value: header }
    if ('secret' in header) return { kind: 'secret', name, secret: header.secret }
    return { kind: 'dynamic', name, path: parseJsonPath(header.path) ?? [] }
  })
}

const secretiveName = /auth|token|key|secret|password|passwd|credential|signature|cookie/i

/** A sentence for each literal text that looks like a secret by the name of its header. */
export function warningsAboutHeaders(headers: readonly DeliveryAttribute[]): string[] {
  return headers.flatMap(({ kind, name }) =>
    kind === 'static' && secretiveName.test(name)
      ? [`headers.${name}: everybody who reads topics sees this text; if it is a secret, write { secret: NAME }`]
      : [],
  )
}
