import { headersMax, headerValueOf } from './delivery-attributes.ts'
import type { CloudEvent } from './event.ts'
import { jsonMembers } from './json-members.ts'
import { scalarText } from './json-path.ts'
import { parseJson } from './json-text.ts'
import { problemOfHeaderName } from './subscription-headers.ts'
import { textOf, transformedText } from './transform.ts'
import type { Transform, TransformedText, ValueTransform, Writing } from './transform.ts'

type Events = readonly [CloudEvent, ...CloudEvent[]]

/** What a transform makes of the events of one request; a part that it says nothing of is absent. */
export interface TransformedParts {
  readonly kind: 'made'
  readonly body?: { readonly contentType: string; readonly bytes: Buffer }
  readonly headers: Readonly<Record<string, string>>
  readonly url?: string
}

export interface ImpossibleParts {
  readonly kind: 'impossible'
  /** One line that names the field. */
  readonly message: string
}

export const transformedUrlLengthMax = 8_192

const jsonType = 'application/json; charset=utf-8'
const textType = 'text/plain; charset=utf-8'

/**
 * What a transform makes of events that share a request (docs/eventbridge.md, "Transforms"): a body of its own with its
 * content type, headers, and a URL at the same receiver as the sink. `ORIGINAL` makes no body of its own: it is the event
 * in structured mode.
 */
export function transformedParts(
  events: Events,
  transform: Transform,
  sink: string,
): TransformedParts | ImpossibleParts {
  const { body, headers, url } = transform
  const madeBody = body === undefined || body.form === 'ORIGINAL' ? null : bodyOf(events, body)
  if (madeBody?.kind === 'impossible') return impossible('body', madeBody.message)
  const madeUrl = url === undefined ? null : urlOf(events[0], url, sink)
  if (madeUrl?.kind === 'impossible') return impossible('url', madeUrl.message)
  const madeHeaders = headers === undefined ? null : headersOf(events, headers)
  if (madeHeaders?.kind === 'impossible') return impossible('headers', madeHeaders.message)
  return {
    kind: 'made',
    headers: madeHeaders?.headers ?? {},
    ...(madeBody === null ? {} : { body: madeBody }),
    ...(madeUrl === null ? {} : { url: madeUrl.url }),
  }
}

/** One text as it is; several are a JSON array, in which a text that is no JSON is a string. */
function bodyOf([first, ...others]: Events, transform: ValueTransform) {
  const only = transformedText(first, transform)
  if (only.kind === 'impossible') return only
  if (others.length === 0) return { kind: 'made', ...bytesOf(only.text, only.isJson) } as const
  const elements = [only]
  for (const event of others) {
    const text = transformedText(event, transform)
    if (text.kind === 'impossible') return text
    elements.push(text)
  }
  const array = elements.map(({ text, isJson }) => (isJson ? text : JSON.stringify(text)))
  return { kind: 'made', ...bytesOf(`[${array.join(',')}]`, true) } as const
}

function bytesOf(text: string, isJson: boolean) {
  return { contentType: contentTypeOfText({ isJson }), bytes: Buffer.from(text, 'utf8') }
}

/** The content type of a transformed text. */
export function contentTypeOfText({ isJson }: { readonly isJson: boolean }): string {
  return isJson ? jsonType : textType
}

/** In a URL a value is one piece of text: what it holds cannot become another part of the URL. */
const inUrl: Writing = (value) => (value === null ? null : encodeURIComponent(textOf(value).toWellFormed()))

/** Null when the text is a URL of the sink's scheme, host and port; else what is wrong with it, without the text. */
export function problemOfTransformedUrl(text: string, sink: string): string | null {
  if (text.length > transformedUrlLengthMax)
    return `has ${text.length} characters, more than ${transformedUrlLengthMax}`
  const url = URL.parse(text)
  if (url === null) return 'is not a URL'
  if (url.username !== '' || url.password !== '') return 'has a user name or password, which belong into a header'
  const origin = URL.parse(sink)?.origin
  if (url.origin !== origin) return `is not at ${origin}, as the sink is: an event may not choose who receives it`
  const path = text.split(/[?#]/, 1)[0] ?? ''
  return /\/\.{1,2}(\/|$)/.test(path) ? 'has "." or ".." in its path' : null
}

function urlOf(event: CloudEvent, transform: ValueTransform, sink: string) {
  const made = transformedText(event, transform, inUrl)
  if (made.kind === 'impossible') return made
  const problem = problemOfTransformedUrl(made.text, sink)
  return problem === null
    ? ({ kind: 'made', url: made.text } as const)
    : ({ kind: 'impossible', message: problem } as const)
}

/** Those that all events agree about, as with dynamic headers; what cannot stand in a header is left out. */
function headersOf([first, ...others]: Events, transform: ValueTransform) {
  const made = headersOfText(transformedText(first, transform))
  if (made.kind === 'impossible') return made
  const agreed = { ...made.headers }
  for (const event of others) {
    const beside = headersOfText(transformedText(event, transform))
    if (beside.kind === 'impossible') return beside
    for (const [name, value] of Object.entries(agreed)) if (beside.headers[name] !== value) delete agreed[name]
  }
  return { kind: 'made', headers: agreed } as const
}

/** The members of a JSON object as headers; one whose name or text (`valueOf`) can be no header is left out. */
export function headersOfText(made: TransformedText, valueOf: (text: string) => string | null = headerValueOf) {
  if (made.kind === 'impossible') return made
  const json = Buffer.from(made.text, 'utf8')
  const parsed = parseJson(json)
  const headers = Object.create(null) as Record<string, string>
  if (
    parsed.kind === 'json' &&
    typeof parsed.root === 'object' &&
    parsed.root !== null &&
    !Array.isArray(parsed.root)
  ) {
    const known = new Set<string>()
    for (const { name, start, end } of jsonMembers(json)) {
      const text = scalarText(json.subarray(start, end))
      const value = text === null ? null : valueOf(text)
      if (value === null || known.has(name.toLowerCase()) || problemOfHeaderName(name) !== null) continue
      known.add(name.toLowerCase())
      if (known.size > headersMax) break
      headers[name] = value
    }
  }
  return { kind: 'made', headers } as const
}

/** What a transform cannot make of an event, by the field that says so. */
export function impossible(part: keyof Transform, message: string): ImpossibleParts {
  return { kind: 'impossible', message: `transform.${part}: ${message}` }
}
