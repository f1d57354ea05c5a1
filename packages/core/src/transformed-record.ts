import { headerValueBytesMax } from './delivery-attributes.ts'
import type { CloudEvent } from './event.ts'
import { contentTypeOfText, headersOfText, impossible } from './transformed-parts.ts'
import type { ImpossibleParts } from './transformed-parts.ts'
import { transformedText } from './transform.ts'
import type { Transform, ValueTransform } from './transform.ts'

/** What a transform makes of an event for a Kafka topic; a part that it says nothing of is absent. */
export interface TransformedRecord {
  readonly kind: 'made'
  /** Null for a record without a key: what the transform asks for is not in the event. */
  readonly key?: Buffer | null
  readonly value?: { readonly contentType: string; readonly value: Buffer }
  readonly headers: Readonly<Record<string, string>>
}

/** Key, value and headers (docs/eventbridge.md, "Transforms"). `ORIGINAL` as value is the event in structured mode. */
export function transformedRecord(
  event: CloudEvent,
  { key, value, headers }: Transform,
): TransformedRecord | ImpossibleParts {
  const madeValue = value === undefined || value.form === 'ORIGINAL' ? null : transformedText(event, value)
  if (madeValue?.kind === 'impossible') return impossible('value', madeValue.message)
  const madeKey = key === undefined ? null : keyOf(event, key)
  if (madeKey?.kind === 'impossible') return impossible('key', madeKey.message)
  const madeHeaders = headers === undefined ? null : headersOfText(transformedText(event, headers), fitting)
  if (madeHeaders?.kind === 'impossible') return impossible('headers', madeHeaders.message)
  return {
    kind: 'made',
    headers: madeHeaders?.headers ?? {},
    ...(madeValue === null
      ? {}
      : { value: { contentType: contentTypeOfText(madeValue), value: Buffer.from(madeValue.text, 'utf8') } }),
    ...(madeKey === null ? {} : { key: madeKey.key }),
  }
}

/** Where a path leads to nothing or to null there is no key: a record with the key `null` would be found by nobody. */
function keyOf(event: CloudEvent, transform: ValueTransform) {
  const made = transformedText(event, transform)
  if (made.kind === 'impossible') return made
  const isNothing = transform.form === 'JSONPATH' && made.isJson && made.text === 'null'
  return { kind: 'made', key: isNothing ? null : Buffer.from(made.text, 'utf8') } as const
}

/** Any text can be the value of a record's header, if it is not too long. */
function fitting(text: string): string | null {
  return Buffer.byteLength(text) <= headerValueBytesMax ? text : null
}
