import { ignoreAt, isSaid, mappingAt, openedAt } from './eventbridge-place.ts'
import type { Place } from './notation-place.ts'
import { comesFrom, fieldsAt, reportAt, textAt, wordAt } from './notation-place.ts'
import { isMapping } from './subscription-field.ts'

type Fields = Readonly<Record<string, unknown>>

const forms = ['ORIGINAL', 'CONSTANT', 'JSONPATH', 'TEMPLATE'] as const
type Form = (typeof forms)[number]

/** Of a text; what fits into a transform, its own field says. */
const textLengthMax = 100_000

interface FormFields {
  readonly form: Form | undefined
  readonly Form: Place
  readonly Value: Place
  readonly Template: Place
}

/** A transform object `{ Form, Value, Template }` (spec page §5.3); `implied` is the form of one that names none. */
function formAt(place: Place, implied: Form): FormFields {
  const value = mappingAt(place, '{ "Form": "CONSTANT", "Value": "…" }')
  const fields = fieldsAt(value === undefined ? { ...place, value: undefined } : place, ['Form', 'Value', 'Template'])
  return { ...fields, form: isSaid(fields.Form) ? wordAt(fields.Form, forms) : implied }
}

/**
 * Reads what a part of the request, or of the record, is made of, as the field of that name below `transform`; undefined for `ORIGINAL`, which
 * is meant where nothing is written.
 */
export function translateForm(place: Place, part: 'body' | 'headers' | 'url' | 'key' | 'value'): Fields | undefined {
  if (!isSaid(place)) return undefined
  const { form, Form, Value, Template } = formAt(place, 'ORIGINAL')
  if (form === undefined) return undefined
  comesFrom(place, 'transform')
  comesFrom(place, 'transform', part)
  comesFrom(Form, 'transform', part, 'form')
  comesFrom(Value, 'transform', part, 'value')
  comesFrom(Template, 'transform', part, 'template')
  if (form === 'ORIGINAL') {
    ignoreAt([Value, Template], 'ignored; ORIGINAL is the whole event')
    return undefined
  }
  if (form === 'TEMPLATE') {
    return { form, value: valuesAt(Value), template: requiredAt(Template) }
  }
  ignoreAt([Template], `ignored; only Value counts with ${form}`)
  return { form, value: requiredAt(Value) }
}

/** The values of a template: a JSON object in a string, as EventBridge has it, or a mapping. */
function valuesAt(place: Place): Fields {
  const opened = openedAt(place)
  const { value = {} } = opened
  if (isMapping(value)) return value
  reportAt(place)('is not a JSON object of names and paths; write {"name":"$.data.name"}')
  return {}
}

function requiredAt(place: Place): string | undefined {
  if (place.value === undefined) return reportAt(place)('is missing')
  return textAt(place, textLengthMax)
}

/** A transform that has to be a constant; plain text is one too. */
export function constantAt(place: Place): { readonly place: Place; readonly text: string | undefined } {
  if (place.value === undefined) return { place, text: reportAt(place)('is missing') }
  if (typeof place.value === 'string') return { place, text: textAt(place, textLengthMax) }
  const { form, Form, Value, Template } = formAt(place, 'CONSTANT')
  if (form !== undefined && form !== 'CONSTANT') {
    return { place: Form, text: reportAt(Form)(`${form} is not possible here; only CONSTANT`) }
  }
  ignoreAt([Template], 'ignored; only Value counts with CONSTANT')
  return { place: Value, text: requiredAt(Value) }
}

/** The URL of a sink: one for all events, or made of each, always at the host that the template begins with. */
export function translateUrl(place: Place): { readonly sink: string | undefined; readonly url?: Fields | undefined } {
  const form = isMapping(place.value) ? place.value['Form'] : undefined
  if (form !== 'TEMPLATE' && form !== 'JSONPATH') {
    const { place: at, text } = constantAt(place)
    comesFrom(at, 'sink')
    return { sink: text }
  }
  const { Form, Template } = formAt(place, 'CONSTANT')
  if (form === 'JSONPATH') {
    const mend = 'write TEMPLATE, which begins with scheme and host'
    return { sink: reportAt(Form)(`JSONPATH would let an event choose who receives it; ${mend}`) }
  }
  const url = translateForm(place, 'url')
  comesFrom(Template, 'sink')
  const origin = /^https?:\/\/[^/?#$\\\s]+(?=[/?#]|$)/i.exec(
    typeof Template.value === 'string' ? Template.value : '',
  )?.[0]
  if (origin === undefined && isSaid(Template)) {
    reportAt(Template)('does not begin with scheme and host, such as https://billing.example.com/${id}')
  }
  return { sink: origin === undefined ? undefined : `${origin}/`, url }
}
