import type { FilterView } from './filter-view.ts'
import { ignoringCase } from './ignoring-case.ts'

/** Event Grid's `subjectBeginsWith` and `subjectEndsWith`: plain text without wildcards; empty or absent lets all pass. */
export interface SubjectFilter {
  readonly beginsWith?: string
  readonly endsWith?: string
  readonly caseSensitive?: boolean
}

export function compileSubjectFilter(filter: SubjectFilter): (view: FilterView) => boolean {
  const { beginsWith = '', endsWith = '', caseSensitive = false } = filter
  const compared = caseSensitive ? (text: string) => text : ignoringCase
  const [begin, end] = [compared(beginsWith), compared(endsWith)]
  return ({ attributes }) => {
    const subject = compared(attributes.get('subject') ?? '')
    return subject.startsWith(begin) && subject.endsWith(end)
  }
}
