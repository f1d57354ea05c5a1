import type { Operator } from './advanced-operators.ts'
import type { CloudEvent } from './event.ts'
import { isJsonMediaType, isUtf8MediaType } from './media-type.ts'
import { structuredContent } from './structured-event.ts'
import { utf8Text } from './utf8.ts'

/**
 * An event as filters look at it. JSON is parsed when the first filter asks for something in it, and then at most
 * once: make one view per event, and let go of it after the filters, for it may be much larger than the event.
 */
export interface FilterView {
  readonly attributes: CloudEvent['attributes']
  /** The value at a key, undefined where there is none. `operand` is what it will be compared with. */
  valueOf(key: FilterKey, operand: Operator['operand']): unknown
  /** What is in the event's data as a CloudEvent; undefined where it has none, or none that is JSON. */
  data(): unknown
}

/** The names that a key joins with dots; a name that holds a dot cannot be addressed. */
export interface FilterKey {
  readonly path: readonly string[]
  /** The first name in lower case: it tells what Event Grid calls the envelope. */
  readonly envelope: string
}

export function filterKey(key: string): FilterKey {
  const path = key.split('.')
  return { path, envelope: path[0]!.toLowerCase() }
}

const dataKey = filterKey('data')

/** An event in whatever schema it came, by the names of that schema. */
export function eventView(event: CloudEvent): FilterView {
  if (event.mode === 'event-grid') return eventGridView(event.attributes, event.value)
  return event.mode === 'custom' ? customView(event.attributes, event.value) : cloudEventView(event)
}

/**
 * Context attributes by name, and `data` with what is below it. Attributes have the type that the operand asks for,
 * if their text can be read so, because a Kafka header has none.
 */
export function cloudEventView(event: CloudEvent): FilterView {
  const { attributes } = event
  const data = once(() => dataOf(event))
  return {
    attributes,
    data,
    valueOf({ path, envelope }, operand) {
      if (envelope === 'data') return valueAt(data(), path, 1)
      if (path.length > 1) return undefined
      const text = attributes.get(envelope) ?? attributes.get(path[0]!)
      return text === undefined ? undefined : attributeValue(text, operand)
    },
  }
}

/** The members of an event in Event Grid's schema; the case of the outermost names does not count. */
export function eventGridView(attributes: CloudEvent['attributes'], json: Buffer): FilterView {
  const document = once(() => parsed(json))
  const valueOf = ({ path, envelope }: FilterKey): unknown => {
    const root = document()
    if (!isObject(root)) return undefined
    const name = Object.hasOwn(root, path[0]!) ? path[0]! : nameIgnoringCase(root, envelope)
    return name === undefined ? undefined : valueAt(root[name], path, 1)
  }
  return { attributes, valueOf, data: () => valueOf(dataKey) }
}

/** The members of a document in a schema of one's own, as they are called there. */
export function customView(attributes: CloudEvent['attributes'], json: Buffer): FilterView {
  const document = once(() => parsed(json))
  return { attributes, data: document, valueOf: ({ path }) => valueAt(document(), path, 0) }
}

function nameIgnoringCase(object: Readonly<Record<string, unknown>>, lowerCase: string): string | undefined {
  return Object.keys(object).find((name) => name.toLowerCase() === lowerCase)
}

/** Steps through objects alone: an array has elements and no names. */
export function valueAt(root: unknown, path: readonly string[], from: number): unknown {
  let value = root
  for (let index = from; index < path.length; index += 1) {
    const name = path[index]!
    if (!isObject(value) || !Object.hasOwn(value, name)) return undefined
    value = value[name]
  }
  return value
}

const jsonNumberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A context attribute as an operand of that type wants it, for a Kafka header has no type. */
export function attributeValue(text: string, operand: Operator['operand']): unknown {
  if (operand === 'boolean') return text === 'true' || (text === 'false' ? false : text)
  const isNumeric = operand === 'number' || operand === 'range'
  return isNumeric && jsonNumberPattern.test(text) ? Number(text) : text
}

/** Nothing where the data is not JSON by its content type, is base64, or does not parse. */
function dataOf({ mode, attributes, value }: CloudEvent): unknown {
  const contentType = attributes.get('datacontenttype')
  if (value === null || (contentType !== undefined && !isUtf8Json(contentType))) return undefined
  if (mode === 'binary') return parsed(value)
  const content = structuredContent(value)
  if (content.kind === 'malformed' || content.data.kind !== 'json') return undefined
  return parsed(value.subarray(content.data.start, content.data.end))
}

function isUtf8Json(contentType: string): boolean {
  return isJsonMediaType(contentType) && isUtf8MediaType(contentType)
}

function parsed(json: Buffer): unknown {
  const text = utf8Text(json)
  if (text === undefined) return undefined
  try {
    // A byte order mark may be ignored (RFC 8259, §8.1).
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null
  return () => (made ??= { value: make() }).value
}
