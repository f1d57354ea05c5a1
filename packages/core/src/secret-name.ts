import type { Report } from './subscription-field.ts'
import { isMapping } from './subscription-field.ts'
import { isSecretName } from './subscription-headers.ts'

/** Reads `{ secret: NAME }` in a file of settings. The value is not shown: it may be the secret itself. */
export function readSecretName(value: unknown, report: Report): { readonly secret: string } | undefined {
  if (value === undefined) return report('is missing; write { secret: NAME }')
  const [kind, ...others] = isMapping(value) ? Object.keys(value) : []
  if (!isMapping(value) || kind !== 'secret' || others.length > 0) {
    return report('is not { secret: NAME }; a secret may not stand in this file: set BARNABAS_SECRET_NAME to it')
  }
  const name = value['secret']
  if (typeof name === 'string' && isSecretName(name)) return { secret: name }
  return report(
    'the name of a secret is upper-case letters, digits and "_", such as AUDIT_KAFKA, and does not end in _FILE',
  )
}
