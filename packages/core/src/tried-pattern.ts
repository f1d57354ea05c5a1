import type { CloudEvent } from './event.ts'
import { eventView } from './filter-view.ts'
import { explainPattern } from './pattern.ts'
import type { PatternFieldResult } from './pattern.ts'
import { readPattern } from './read-pattern.ts'
import { dotted } from './subscription-field.ts'

export type TestedPattern =
  | { readonly kind: 'tested'; readonly isMatch: boolean; readonly fields: readonly PatternFieldResult[] }
  /** The message begins with the place in the pattern: `.type[0]: …`, or `: …` for all of it. */
  | { readonly kind: 'invalid'; readonly message: string }

/** Whether an event matches what may be an event pattern, field by field. */
export function testPattern(written: unknown, event: CloudEvent): TestedPattern {
  let problem = ''
  const pattern = readPattern(written, (message, ...path) => {
    problem = `${dotted(['', ...path]).replace(/^\[""\]/, '')}: ${message}`
    return undefined
  })
  if (pattern === undefined) return { kind: 'invalid', message: problem }
  const fields = explainPattern(pattern, eventView(event))
  return { kind: 'tested', isMatch: fields.every(({ passes }) => passes), fields }
}
