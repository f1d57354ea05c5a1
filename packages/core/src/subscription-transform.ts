import { headersMax } from './delivery-attributes.ts'
import { kafkaSinkOf } from './kafka-sink.ts'
import { isJson } from './json-append.ts'
import { parseJsonPath } from './json-path.ts'
import type { JsonPath } from './json-path.ts'
import { didYouMean } from './nearest-name.ts'
import type { DeliverySchema, Notation } from './schemas.ts'
import type { Report, SubscriptionProblem } from './subscription-field.ts'
import { field, isMapping, mapping, problemAt, readText, shown } from './subscription-field.ts'
import { problemOfHeaderName } from './subscription-headers.ts'
import { isSlot, parseTemplate, slotMark, templateProbe } from './template.ts'
import { problemOfTransformedUrl } from './transformed-parts.ts'
import type { Transform, ValueTransform, Variable } from './transform.ts'

/** Of a constant, a path, a template, and of the variables of a template as JSON (spec page §1.8). */
export const transformLengthMax = 10_240
export const variablesMax = 100

/** A transform as a person writes it. */
export type WrittenForm =
  | { readonly form: 'ORIGINAL' }
  | { readonly form: 'CONSTANT' | 'JSONPATH'; readonly value: string }
  | { readonly form: 'TEMPLATE'; readonly value: Readonly<Record<string, string>>; readonly template: string }

export const transformForms = ['ORIGINAL', 'CONSTANT', 'JSONPATH', 'TEMPLATE'] as const
const fieldsOfForms = {
  ORIGINAL: ['form'],
  CONSTANT: ['form', 'value'],
  JSONPATH: ['form', 'value'],
  TEMPLATE: ['form', 'value', 'template'],
} as const satisfies Readonly<Record<WrittenForm['form'], readonly string[]>>

const variablePattern = /^[A-Za-z0-9_.-]{1,64}$/
/** Merges an object in EventBridge. */
const embedObject = 'EB_SYS_EMBED_OBJECT'

/** `transform` as a person writes it. Key and value are those of a record, for a Kafka topic as sink. */
export const transformSchema = mapping({
  body: field(readForm).optional(),
  headers: field(readHeadersForm).optional(),
  url: field(readUrlForm).optional(),
  key: field(readKeyForm).optional(),
  value: field(readForm).optional(),
})

export interface WrittenTransform {
  readonly body?: WrittenForm | undefined
  readonly headers?: WrittenForm | undefined
  readonly url?: WrittenForm | undefined
  readonly key?: WrittenForm | undefined
  readonly value?: WrittenForm | undefined
}

const transformParts = ['body', 'headers', 'url', 'key', 'value'] as const

/** What was written, compiled; undefined when nothing is transformed. */
export function transformOf(written: WrittenTransform | undefined): Transform | undefined {
  const parts = transformParts.flatMap((part) => {
    const form = written?.[part]
    return form === undefined ? [] : [[part, compiled(form)] as const]
  })
  return parts.length === 0 ? undefined : Object.fromEntries(parts)
}

const notOfRequests = { key: 'leave it out', value: 'write body' }

/** What can be said of a transform only beside the other fields. */
export function problemsOfTransform(written: {
  readonly transform?: WrittenTransform | undefined
  readonly sink: string
  readonly schema?: DeliverySchema | undefined
  readonly notation?: Notation | undefined
  readonly batch?: { readonly maxEvents?: number | undefined } | undefined
  readonly headers?: Readonly<Record<string, unknown>> | undefined
}): SubscriptionProblem[] {
  const { transform, schema, notation, sink, headers: own = {} } = written
  const compiledTransform = transformOf(transform)
  if (transform === undefined || compiledTransform === undefined) return []
  if (notation === 'event-grid' || notation === 'event-grid-kubernetes') {
    return [problemAt(['transform'], `is not possible with notation: ${notation}, which sends events as they are`)]
  }
  if (schema !== undefined && schema !== 'CloudEventSchemaV1_0') {
    return [problemAt(['transform'], `is not possible with schema: ${schema}; leave the schema out`)]
  }
  const problems: SubscriptionProblem[] = []
  const isKafka = kafkaSinkOf(sink) !== null
  for (const [part, mend] of Object.entries(isKafka ? { body: 'write value', url: 'leave it out' } : notOfRequests)) {
    if (transform[part as keyof WrittenTransform] === undefined) continue
    const other = isKafka ? 'is for http(s) sinks, and this one is a Kafka topic' : 'is for Kafka topics as sink'
    problems.push(problemAt(['transform', part], `${other}; ${mend}`))
  }
  if (problems.length > 0) return problems
  if (compiledTransform.url !== undefined) {
    if ((written.batch?.maxEvents ?? 1) > 1) {
      problems.push(problemAt(['transform', 'url'], 'is not possible with batches, whose events would share one URL'))
    }
    const example = exampleUrl(compiledTransform.url)
    const problem = example === null ? null : problemOfTransformedUrl(example, sink)
    if (problem !== null) problems.push(problemAt(['transform', 'url', lastField(compiledTransform.url)], problem))
  }
  const known = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  for (const name of headerNames(compiledTransform.headers)) {
    if (!known.has(name.toLowerCase())) continue
    problems.push(
      problemAt(['transform', 'headers'], `${shown(name)} stands in \`headers\` too; write it in one place`),
    )
  }
  return problems
}

/** A transform of a part whose text may be anything. */
function readForm(value: unknown, report: Report): WrittenForm | undefined {
  if (!isMapping(value))
    return report(`${shown(value)} is not a transform; write { form: JSONPATH, value: $.data.name }`)
  const form = transformForms.find((each) => each === value['form'])
  if (form === undefined) {
    const problem = value['form'] === undefined ? 'is missing' : `${shown(value['form'])} is not known`
    return report(`${problem}; one of ${transformForms.join(', ')}${didYouMean(value['form'], transformForms)}`, 'form')
  }
  const fields: readonly string[] = fieldsOfForms[form]
  const [other] = Object.keys(value).filter((name) => !fields.includes(name))
  if (other !== undefined) return report(`is not for ${form}, which takes ${fields.join(', ')}`, other)
  if (form === 'ORIGINAL') return { form }
  if (form === 'TEMPLATE') return readTemplateForm(value, report)
  const text = readText(value['value'], (message) => report(message, 'value'), transformLengthMax)
  if (text === undefined) return undefined
  if (form === 'JSONPATH' && readPath(text) === null) return report(problemOfPath(text), 'value')
  return { form, value: text }
}

function readTemplateForm(written: Readonly<Record<string, unknown>>, report: Report): WrittenForm | undefined {
  const template = readText(written['template'], (message) => report(message, 'template'), transformLengthMax)
  if (template === undefined) return undefined
  const variables = readVariables(written['value'] ?? {}, (message, ...below) => report(message, 'value', ...below))
  if (variables === undefined) return undefined
  const names = Object.keys(variables)
  const unknown = parseTemplate(template).parts.find((part) => isSlot(part) && !names.includes(part.name))
  if (unknown !== undefined && isSlot(unknown)) {
    const { name } = unknown
    return report(`\${${name.slice(0, 64)}} is not one of its values${didYouMean(name, names)}`, 'template')
  }
  return { form: 'TEMPLATE', value: variables, template }
}

function readVariables(value: unknown, report: Report): Readonly<Record<string, string>> | undefined {
  if (!isMapping(value))
    return report(`${shown(value)} is not a mapping of names to paths; write { name: $.data.name }`)
  const entries = Object.entries(value)
  if (entries.length > variablesMax) return report(`has ${entries.length} names, more than ${variablesMax}`)
  for (const [name, text] of entries) {
    if (name === embedObject) return report('is not available in this version', name)
    if (!variablePattern.test(name)) {
      return report('is not a name: 1 to 64 letters, digits, "_", "." and "-"', name)
    }
    if (typeof text !== 'string') return report(`${shown(text)} is not text; put it in quotes`, name)
    if (isPath(text) && readPath(text) === null) return report(problemOfPath(text), name)
  }
  const lengthOfAll = JSON.stringify(value).length
  if (lengthOfAll > transformLengthMax) {
    return report(`has ${lengthOfAll} characters as JSON, more than ${transformLengthMax}`)
  }
  return Object.fromEntries(entries) as Record<string, string>
}

function readKeyForm(value: unknown, report: Report): WrittenForm | undefined {
  const form = readForm(value, report)
  return form?.form === 'ORIGINAL' ? report('ORIGINAL is for the value alone; an event is no key', 'form') : form
}

function readUrlForm(value: unknown, report: Report): WrittenForm | undefined {
  const form = readForm(value, report)
  return form?.form === 'ORIGINAL' ? report('ORIGINAL is for the body alone; an event is no URL', 'form') : form
}

/** Headers are a JSON object, and whoever writes it down must hear of a name that no request may have. */
function readHeadersForm(value: unknown, report: Report): WrittenForm | undefined {
  const form = readForm(value, report)
  if (form === undefined || form.form === 'JSONPATH') return form
  if (form.form === 'ORIGINAL') return report('ORIGINAL is for the body alone; an event is no headers', 'form')
  const at = form.form === 'CONSTANT' ? 'value' : 'template'
  const headers = headersWritten(compiled(form))
  if (headers === null) return report('is not a JSON object; write {"X-Team":"billing"}', at)
  const entries = Object.entries(headers)
  if (entries.length > headersMax) return report(`has ${entries.length} headers, more than ${headersMax}`, at)
  for (const [name, text] of entries) {
    const problem = name.includes(slotMark) ? 'may not come from the event' : problemOfHeaderName(name)
    if (problem !== null) return report(`the name ${shown(name.replaceAll(slotMark, '${…}'))} ${problem}`, at)
    if (typeof text === 'object' && text !== null) return report(`the value of ${name} is not text`, at)
  }
  return form
}

/** As far as they stand in the subscription; null where what stands there is no JSON object. */
function headersWritten(transform: ValueTransform): Readonly<Record<string, unknown>> | null {
  const text = transform.form === 'CONSTANT' ? transform.value : probeOf(transform)
  const root: unknown = isJson(text) ? JSON.parse(text) : null
  return isMapping(root) ? root : null
}

function headerNames(transform: ValueTransform | undefined): readonly string[] {
  if (transform === undefined || transform.form === 'JSONPATH') return []
  return Object.keys(headersWritten(transform) ?? {})
}

function probeOf(transform: ValueTransform): string {
  return transform.form === 'TEMPLATE' && transform.template.isJson ? templateProbe(transform.template.parts) : ''
}

/** The URL that it would make of some event; null when only events know. */
function exampleUrl(transform: ValueTransform): string | null {
  if (transform.form === 'CONSTANT') return transform.value
  if (transform.form !== 'TEMPLATE') return null
  return transform.template.parts.map((part) => (isSlot(part) ? 'x' : part)).join('')
}

function lastField({ form }: ValueTransform): string {
  return form === 'TEMPLATE' ? 'template' : 'value'
}

function compiled(written: WrittenForm): ValueTransform {
  switch (written.form) {
    case 'ORIGINAL':
      return { form: 'ORIGINAL' }
    case 'CONSTANT':
      return { form: 'CONSTANT', value: written.value, isJson: isJson(written.value) }
    case 'JSONPATH':
      return { form: 'JSONPATH', path: readPath(written.value) ?? [] }
    case 'TEMPLATE': {
      const variables = Object.entries(written.value).map(([name, text]): [string, Variable] => {
        const path = isPath(text) ? readPath(text) : null
        return [name, path === null ? { text } : { path }]
      })
      return { form: 'TEMPLATE', template: parseTemplate(written.template), variables: Object.fromEntries(variables) }
    }
    default:
      return written satisfies never
  }
}

/** Whether a text is meant as a path; any other is what it says. */
function isPath(text: string): boolean {
  return text === '$' || text.startsWith('$.') || text.startsWith('$[')
}

const quotedName = /\['[^']*'\]|\["[^"]*"\]/g

/** `$` is the whole event. A wild card, filter or function is no name, unless it stands in quotes. */
function readPath(text: string): JsonPath | null {
  if (!isPath(text) || /[*?()]/.test(text.replaceAll(quotedName, ''))) return null
  return text === '$' ? [] : parseJsonPath(text)
}

function problemOfPath(text: string): string {
  return `${shown(text)} does not lead to one value; write names and places in arrays, such as $.data.items[0].name`
}
