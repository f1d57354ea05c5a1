import { headerValueProblem } from './delivery-attributes.ts'
import type { DeliveryAttribute } from './delivery-attributes.ts'

/** What `{ secret: NAME }` means in a process. The message says how to set it, and nothing of its value. */
export type Secret =
  { readonly kind: 'value'; readonly value: string } | { readonly kind: 'unknown'; readonly message: string }

export type FindSecret = (name: string) => Secret

/** Why nothing can be sent for want of a secret, or null. */
export function problemOfSecrets(headers: readonly DeliveryAttribute[], findSecret: FindSecret): string | null {
  for (const header of headers) {
    if (header.kind !== 'secret') continue
    const found = findSecret(header.secret)
    if (found.kind === 'unknown') return `headers.${header.name}: ${found.message}`
    const problem = headerValueProblem(found.value)
    if (problem !== null) return `headers.${header.name}: the secret ${header.secret} ${problem}`
  }
  return null
}

/**
 * The value of a header that a subscription adds to what it sends (row A20); `textOf` says what stands in the event. Throws
 * for a secret that `problemOfSecrets` has not let pass.
 */
export function ownHeaderValue(
  header: DeliveryAttribute,
  findSecret: FindSecret,
  textOf: (header: Extract<DeliveryAttribute, { kind: 'dynamic' }>) => string | null,
): string | null {
  switch (header.kind) {
    case 'static':
      return header.value
    case 'secret': {
      const found = findSecret(header.secret)
      if (found.kind === 'value') return found.value
      throw new Error(found.message)
    }
    case 'dynamic':
      return textOf(header)
    default:
      return header satisfies never
  }
}
