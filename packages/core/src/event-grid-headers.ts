import type { Place } from './notation-place.ts'
import { booleanAt, comesFrom, entriesAt, fieldsWithProperties, reportAt, textAt, wordAt } from './notation-place.ts'
import { isMapping, shown } from './subscription-field.ts'

/** Row A20. */
const headersMax = 10
const nameLengthMax = 1_000
const valueLengthMax = 100_000

/**
 * Reads `deliveryAttributeMappings` into `headers`. A value that is a secret is not taken over, for a subscription is
 * stored in a topic that many may read: `own`, the headers beside `properties`, has to say where it comes from.
 */
export function headersOf(place: Place, own: unknown): Readonly<Record<string, unknown>> | null {
  if (place.value === undefined) return null
  const ownNames = isMapping(own) ? Object.keys(own).map((name) => name.toLowerCase()) : []
  const headers: (readonly [string, unknown])[] = []
  const names = new Set<string>()
  for (const entry of entriesAt(
    place,
    headersMax,
    '[{ "name": "X-A", "type": "Static", "properties": { "value": "v" } }]',
  )) {
    const fields = fieldsWithProperties(entry, ['name', 'type'], ['value', 'isSecret', 'sourceField'])
    const name = textAt(fields.name, nameLengthMax)
    const type = wordAt(fields.type, ['Static', 'Dynamic'], { ignoringCase: true })
    if (fields.name.value === undefined) reportAt(fields.name)('is missing')
    if (fields.type.value === undefined) reportAt(fields.type)('is missing; Static or Dynamic')
    if (name === undefined || type === undefined) continue
    if (names.has(name.toLowerCase())) reportAt(fields.name)(`${shown(name)} stands twice`)
    names.add(name.toLowerCase())
    if (ownNames.includes(name.toLowerCase())) continue
    comesFrom(entry, 'headers', name)
    const value = type === 'Static' ? staticValue(name, fields) : dynamicValue(name, fields)
    if (value !== undefined) headers.push([name, value])
  }
  return Object.fromEntries(headers)
}

type HeaderFields = Readonly<Record<'value' | 'isSecret' | 'sourceField', Place>>

function staticValue(name: string, { value, isSecret, sourceField }: HeaderFields): string | undefined {
  if (sourceField.value !== undefined) reportAt(sourceField)('belongs to a Dynamic mapping; a Static one has a value')
  if (booleanAt(isSecret) === true) {
    const secret = name.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
    const mend = `write \`headers: { ${name}: { secret: ${secret} } }\` beside \`properties\`, and give the services its value`
    return reportAt(isSecret)(
      `a secret may not be stored in a subscription, which everybody who reads topics sees; ${mend} in BARNABAS_SECRET_${secret}`,
    )
  }
  comesFrom(value, 'headers', name)
  if (value.value === undefined) return reportAt(value)('is missing')
  // Blanks around it are part of it.
  return typeof value.value === 'string' ? value.value : textAt(value, valueLengthMax)
}

function dynamicValue(name: string, { value, isSecret, sourceField }: HeaderFields): unknown {
  if (value.value !== undefined) reportAt(value)('belongs to a Static mapping; a Dynamic one has a sourceField')
  booleanAt(isSecret)
  if (sourceField.value === undefined) return reportAt(sourceField)('is missing; write for example data.key1')
  comesFrom(sourceField, 'headers', name, 'path')
  comesFrom(sourceField, 'headers', name)
  const field = textAt(sourceField, valueLengthMax)
  if (field === undefined) return undefined
  return { path: field.startsWith('$') ? field : `$.${field}` }
}
