import { parseDuration } from './duration.ts'
import { parseSize } from './size.ts'
import { isMapping } from './subscription-field.ts'

type Fields = Readonly<Record<string, unknown>>

/** What of the wanted fields a translation does not give, and so has to stand beside it; of mappings what differs. */
export function differences(wanted: Fields, read: Fields): Fields {
  const differing = Object.entries(wanted).filter(([name, value]) => !isSame(value, read[name]))
  return Object.fromEntries(differing.map(([name, value]) => [name, differingFields(value, read[name])]))
}

export function withoutAbsent(fields: Fields, present: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => present[name] !== undefined))
}

function differingFields(wanted: unknown, found: unknown): unknown {
  if (!isMapping(wanted) || !isMapping(found)) return wanted
  return Object.fromEntries(Object.entries(wanted).filter(([name, value]) => !isSame(value, found[name])))
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(meaningOf(one)) === JSON.stringify(meaningOf(other))
}

/** `24h` and `1440m`, `64KB` and `65536B` mean the same. */
function meaningOf(value: unknown): unknown {
  const duration = parseDuration(value)
  if (duration !== null) return { duration }
  const size = parseSize(value)
  if (size !== null) return { size }
  if (Array.isArray(value)) return value.map(meaningOf)
  if (!isMapping(value)) return value
  const entries = Object.entries(value).map(([name, each]) => [name, meaningOf(each)] as const)
  return entries.toSorted(([one], [other]) => (one < other ? -1 : 1))
}

/** A mapping with what a part of it adds, mappings field by field. */
export function withPart(whole: Fields, part: Fields): Fields {
  const entries = Object.entries(part).map(([name, value]) => {
    const below = whole[name]
    return [name, isMapping(below) && isMapping(value) ? withPart(below, value) : value] as const
  })
  return { ...whole, ...Object.fromEntries(entries) }
}

/** A sink as it may be shown: every value of the query may be a key; nobody can tell by its name. */
export function maskedUrl(url: string): { readonly url: string; readonly isMasked: boolean } {
  const [whole = '', fragment] = url.split(/#(.*)/s)
  const [base = '', query] = whole.split(/\?(.*)/s)
  if (query === undefined || query === '') return { url, isMasked: false }
  const masked = query.split('&').map((part) => (part.includes('=') ? part.replace(/=.*$/s, '=***') : '***'))
  return { url: `${base}?${masked.join('&')}${fragment === undefined ? '' : `#${fragment}`}`, isMasked: true }
}
