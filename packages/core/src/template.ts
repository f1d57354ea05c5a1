import { isJson } from './json-append.ts'

/**
 * A text with places for values. Where the template itself is JSON (`isJson`), what is put in cannot break it: within a
 * string it is escaped, and in the place of a value it is JSON.
 */
export interface Template {
  readonly isJson: boolean
  readonly parts: readonly TemplatePart[]
}

export type TemplatePart = string | TemplateSlot

export interface TemplateSlot {
  readonly name: string
  /** `string`: within a JSON string; `value`: in the place of a JSON value; `text`: the template is not JSON. */
  readonly place: 'text' | 'string' | 'value'
}

const slotPattern = /\$\{([^{}]*)\}/g
/** No template is likely to hold it, so that it shows where a slot was. */
export const slotMark = '\uE000'

/** Splits a template at its `${name}`. One that is nothing but a single place is text, whatever is put there. */
export function parseTemplate(text: string): Template {
  const pieces = text.split(slotPattern)
  const parts: TemplatePart[] = []
  let isInString = false
  for (const [index, piece] of pieces.entries()) {
    if (index % 2 === 1) parts.push({ name: piece, place: isInString ? 'string' : 'value' })
    else if (piece !== '') {
      parts.push(piece)
      isInString = endsInString(piece, isInString)
    }
  }
  const isLoneSlot = parts.filter((part) => typeof part !== 'string' || part.trim() !== '').every(isSlot)
  if (!isLoneSlot && isJson(templateProbe(parts))) return { isJson: true, parts }
  return { isJson: false, parts: parts.map((part) => (isSlot(part) ? { name: part.name, place: 'text' } : part)) }
}

/** The template with a stand-in at every place: JSON exactly if the template is. */
export function templateProbe(parts: readonly TemplatePart[]): string {
  return parts.map((part) => (isSlot(part) ? (part.place === 'string' ? slotMark : 'null') : part)).join('')
}

export function isSlot(part: TemplatePart): part is TemplateSlot {
  return typeof part !== 'string'
}

/** Whether JSON is within a string after this piece of it. */
function endsInString(piece: string, beganInString: boolean): boolean {
  let isInString = beganInString
  for (let at = 0; at < piece.length; at++) {
    if (piece[at] === '"') isInString = !isInString
    else if (isInString && piece[at] === '\\') at += 1
  }
  return isInString
}
