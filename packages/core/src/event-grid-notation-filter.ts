import type { Place } from './notation-place.ts'
import { booleanAt, comesFrom, entriesAt, fieldsAt, reportAt, textAt } from './notation-place.ts'
import { shown } from './subscription-field.ts'

/** Not supported by Event Grid on Kubernetes (`filter-events.md`). */
const notOnKubernetes = [
  'StringNotContains',
  'StringNotBeginsWith',
  'StringNotEndsWith',
  'NumberInRange',
  'NumberNotInRange',
  'IsNullOrUndefined',
  'IsNotNull',
]
/** What an advanced filter may name there besides `data`; extension attributes are not supported. */
const keysOnKubernetes = ['id', 'source', 'subject', 'type', 'specversion', 'time', 'datacontenttype', 'dataschema']

/** More than any part of a filter may have: so much is looked at, and the limits are checked with our own fields. */
const entriesMax = 10_000
const textLengthMax = 100_000

export interface TranslatedFilter {
  readonly types?: readonly string[]
  readonly filters?: readonly unknown[]
}

export function translateFilter(place: Place, isKubernetes: boolean): TranslatedFilter {
  const fields = fieldsAt(place, [
    'subjectBeginsWith',
    'subjectEndsWith',
    'isSubjectCaseSensitive',
    'includedEventTypes',
    'enableAdvancedFilteringOnArrays',
    'advancedFilters',
  ])
  const onArrays = booleanAt(fields.enableAdvancedFilteringOnArrays) ?? false
  if (onArrays && isKubernetes) {
    reportAt(fields.enableAdvancedFilteringOnArrays)('Event Grid on Kubernetes does not filter on arrays; take it out')
  }
  const types = typesOf(fields.includedEventTypes)
  const subject = subjectOf(fields)
  comesFrom(place, 'filters')
  const filters: unknown[] = subject === null ? [] : [{ subject }]
  for (const entry of entriesAt(fields.advancedFilters, entriesMax, '[{ "operatorType": "StringIn", … }]')) {
    const advanced = advancedOf(entry, isKubernetes)
    comesFrom(entry, 'filters', filters.length)
    comesFrom(entry, 'filters', filters.length, 'advanced')
    filters.push({ advanced: onArrays ? { ...advanced, onArrays } : advanced })
  }
  return { ...(types.length === 0 ? {} : { types }), ...(filters.length === 0 ? {} : { filters }) }
}

/** Exact types; `All` among them, none and null mean all of them. */
function typesOf(place: Place): readonly string[] {
  comesFrom(place, 'types')
  const types = entriesAt(place, entriesMax, '["order.paid"]').map((entry) => {
    if (entry.value === undefined) return reportAt(entry)('is missing')
    return textAt(entry, textLengthMax)
  })
  const read = types.filter((type) => type !== undefined)
  return read.includes('All') ? [] : read
}

interface SubjectFields {
  readonly subjectBeginsWith: Place
  readonly subjectEndsWith: Place
  readonly isSubjectCaseSensitive: Place
}

/** Prefix and suffix as they stand, blanks included; both empty: every subject. */
function subjectOf({ subjectBeginsWith, subjectEndsWith, isSubjectCaseSensitive }: SubjectFields) {
  const beginsWith = affixOf(subjectBeginsWith)
  const endsWith = affixOf(subjectEndsWith)
  const caseSensitive = booleanAt(isSubjectCaseSensitive) ?? false
  comesFrom(subjectBeginsWith, 'filters', 0, 'subject', 'beginsWith')
  comesFrom(subjectEndsWith, 'filters', 0, 'subject', 'endsWith')
  comesFrom(isSubjectCaseSensitive, 'filters', 0, 'subject', 'caseSensitive')
  if (beginsWith === '' && endsWith === '') return null
  return {
    ...(beginsWith === '' ? {} : { beginsWith }),
    ...(endsWith === '' ? {} : { endsWith }),
    ...(caseSensitive ? { caseSensitive } : {}),
  }
}

function affixOf(place: Place): string {
  if (place.value === undefined || typeof place.value === 'string') return place.value ?? ''
  reportAt(place)(`${shown(place.value)} is not text`)
  return ''
}

/** One advanced filter; operator and operands are read, and their limits checked, where filters are. */
function advancedOf(entry: Place, isKubernetes: boolean): Readonly<Record<string, unknown>> {
  const { operatorType, key, value, values } = fieldsAt(entry, ['operatorType', 'key', 'value', 'values'])
  const operator = typeof operatorType.value === 'string' ? operatorType.value.trim() : operatorType.value
  if (isKubernetes && typeof operator === 'string' && notOnKubernetes.includes(operator)) {
    reportAt(operatorType)(`${operator} is not supported by Event Grid on Kubernetes; the cloud's \`notation\` has it`)
  }
  if (isKubernetes && typeof key.value === 'string' && !isKeyOnKubernetes(key.value)) {
    reportAt(key)(
      `${shown(key.value)} is an extension attribute, which Event Grid on Kubernetes does not filter on; one of ${keysOnKubernetes.join(', ')}, or data.…`,
    )
  }
  return {
    ...(operator === undefined ? {} : { operatorType: operator }),
    ...(key.value === undefined ? {} : { key: key.value }),
    ...(value.value === undefined ? {} : { value: value.value }),
    ...(values.value === undefined ? {} : { values: values.value }),
  }
}

function isKeyOnKubernetes(key: string): boolean {
  const name = key.split('.', 1)[0]?.trim().toLowerCase() ?? ''
  return name === 'data' || keysOnKubernetes.includes(name)
}
