import { structuredJson } from './event-to-structured.ts'
import type { CloudEvent } from './event.ts'
import { isJson } from './json-append.ts'
import { stringAt } from './json-members.ts'
import { jsonAtEach } from './json-path.ts'
import type { JsonPath } from './json-path.ts'
import { isSlot } from './template.ts'
import type { Template, TemplateSlot } from './template.ts'

/** How parts of a request, or of a record, are made of an event (spec page §5.3). What is absent is as without it. */
export interface Transform {
  readonly body?: ValueTransform
  /** Makes a JSON object whose members become headers. */
  readonly headers?: ValueTransform
  readonly url?: ValueTransform
  /** Of a record, for a Kafka topic as sink. */
  readonly key?: ValueTransform
  readonly value?: ValueTransform
}

/** One of EventBridge's `{ Form, Value, Template }`, compiled. */
export type ValueTransform =
  | { readonly form: 'ORIGINAL' }
  | { readonly form: 'CONSTANT'; readonly value: string; readonly isJson: boolean }
  | { readonly form: 'JSONPATH'; readonly path: JsonPath }
  | { readonly form: 'TEMPLATE'; readonly template: Template; readonly variables: Readonly<Record<string, Variable>> }

/** Where the value of a variable stands in the event, or the text that it is. */
export type Variable = { readonly path: JsonPath } | { readonly text: string }

export type TransformedText =
  | { readonly kind: 'text'; readonly text: string; readonly isJson: boolean }
  /** One sentence that goes on after the name of what was to be made. */
  | { readonly kind: 'impossible'; readonly message: string }

/** Of one transformed text, in bytes of UTF-8: a short template can ask for the whole event many times over. */
export const transformedBytesMax = 16 * 1_024 * 1_024

/** How the value of a variable stands at its place; null where there is no way. */
export type Writing = (value: VariableValue, slot: TemplateSlot) => string | null

/** The JSON text of a value in the event, a text, or nothing: the path leads nowhere. */
export type VariableValue = { readonly json: Buffer } | { readonly text: string } | null

/**
 * The text that a transform makes of an event, which is seen as its CloudEvents JSON (`$.data.x`, `$.type`). `writing`
 * says how values stand in a template. A path that leads nowhere is `null`. The event is read once, however many paths
 * there are.
 */
export function transformedText(
  event: CloudEvent,
  transform: ValueTransform,
  writing: Writing = written,
): TransformedText {
  switch (transform.form) {
    case 'ORIGINAL':
      return { kind: 'text', text: structuredJson(event).toString('utf8'), isJson: true }
    case 'CONSTANT':
      return { kind: 'text', text: transform.value, isJson: transform.isJson }
    case 'JSONPATH': {
      const [json = null] = jsonAtEach(structuredJson(event), [transform.path])
      const text = json === null ? 'null' : textOf({ json })
      return { kind: 'text', text, isJson: json === null || json[0] !== quote }
    }
    case 'TEMPLATE':
      return filled(event, transform, writing)
    default:
      return transform satisfies never
  }
}

function filled(
  event: CloudEvent,
  { template, variables }: Extract<ValueTransform, { form: 'TEMPLATE' }>,
  writing: Writing,
): TransformedText {
  const values = valuesOf(event, variables)
  const known = new Map<string, string | null>()
  let bytes = 0
  const texts: string[] = []
  for (const part of template.parts) {
    const text = isSlot(part) ? slotText(part) : part
    if (text === null)
      return { kind: 'impossible', message: `the event has nothing for \${${(part as TemplateSlot).name}}` }
    bytes += Buffer.byteLength(text)
    if (bytes > transformedBytesMax) {
      return { kind: 'impossible', message: `would have more than ${transformedBytesMax} bytes` }
    }
    texts.push(text)
  }
  return { kind: 'text', text: texts.join(''), isJson: template.isJson }

  /** The same variable in the same kind of place is written once. */
  function slotText(slot: TemplateSlot): string | null {
    const key = `${slot.place} ${slot.name}`
    const before = known.get(key)
    if (before !== undefined) return before
    const text = writing(values.get(slot.name) ?? null, slot)
    known.set(key, text)
    return text
  }
}

function valuesOf(
  event: CloudEvent,
  variables: Readonly<Record<string, Variable>>,
): ReadonlyMap<string, VariableValue> {
  const values = new Map<string, VariableValue>()
  const sought: { readonly name: string; readonly path: JsonPath }[] = []
  for (const [name, variable] of Object.entries(variables)) {
    if ('text' in variable) values.set(name, variable)
    else sought.push({ name, path: variable.path })
  }
  if (sought.length === 0) return values
  const found = jsonAtEach(
    structuredJson(event),
    sought.map(({ path }) => path),
  )
  for (const [index, { name }] of sought.entries()) {
    const json = found[index] ?? null
    values.set(name, json === null ? null : { json })
  }
  return values
}

const quote = 0x22

/** Text as it is, everything else as its JSON text, as it stands in the event. */
export function textOf(value: Exclude<VariableValue, null>): string {
  if ('text' in value) return value.text
  const { json } = value
  return json[0] === quote ? stringAt(json, 0, json.length) : json.toString('utf8')
}

/**
 * As EventBridge puts values in, textually, except where that would break a template that is JSON: within a string the
 * text is escaped, and in the place of a value a text that is no JSON becomes a string. What the event does not have
 * leaves its `${name}` where it stands, or is `null` in the place of a value.
 */
function written(value: VariableValue, { name, place }: TemplateSlot): string {
  if (value === null) return place === 'value' ? 'null' : `\${${name}}`
  const text = textOf(value)
  if (place === 'string') return JSON.stringify(text).slice(1, -1)
  return place === 'text' || isJson(text) ? text : JSON.stringify(text)
}
