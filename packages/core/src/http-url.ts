import type { Report } from './subscription-field.ts'
import { readText, shown } from './subscription-field.ts'

/**
 * Reads an http(s) URL in a file of settings, as it was written. One with a user name is not shown, for a password may
 * stand beside it; `instead` is the field where those belong.
 */
export function readHttpUrl(value: unknown, report: Report, lengthMax: number, instead: string): string | undefined {
  const text = readText(value, report, lengthMax)
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url?.username || url?.password) {
    return report(`user name and password may not stand in the URL; write ${instead}`)
  }
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return text
  return report(`${shown(text)} is not an http(s) URL`)
}
