import { headerValueOf, ownHeaderValue, textAt } from '@barnabas/core'
import type { CloudEvent, DeliveryAttribute, FindSecret, RequestShape } from '@barnabas/core'

/**
 * The headers that a subscription adds to its requests (row A20). A dynamic one is left out where the event has no such
 * value, or none that can stand in a header. Throws for a secret that `problemOfSecrets` has not let pass.
 */
export function addOwnHeaders(
  headers: Record<string, string>,
  events: readonly [CloudEvent, ...CloudEvent[]],
  { headers: own }: RequestShape,
  findSecret: FindSecret,
): void {
  for (const header of own) {
    const value = ownHeaderValue(header, findSecret, ({ path }) => agreedValue(events, (event) => textAt(event, path)))
    if (value !== null) headers[header.name] = value
  }
}

/** Those of them that any request can have, whether or not it carries an event. Throws as `addOwnHeaders` does. */
export function headersWithoutEvent(
  own: readonly DeliveryAttribute[],
  findSecret: FindSecret,
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    own.flatMap((header) => {
      const value = ownHeaderValue(header, findSecret, () => null)
      return value === null ? [] : [[header.name, value] as const]
    }),
  )
}

/** What all events say, as the value of a header; null where they differ, or say nothing that can stand there. */
export function agreedValue(
  [first, ...others]: readonly [CloudEvent, ...CloudEvent[]],
  textOf: (event: CloudEvent) => string | null,
): string | null {
  const text = textOf(first)
  if (text === null || others.some((event) => textOf(event) !== text)) return null
  return headerValueOf(text)
}

const mask = Buffer.from('***')
/** A shorter run of bytes says too little, and would be found everywhere. */
const maskedBytesMin = 4

/**
 * A receiver's answer without the secrets that it may have sent back, for it goes into dead letters. One that was cut
 * off at its end is masked as far as it is there.
 */
export function withoutSecrets(body: Buffer, headers: readonly DeliveryAttribute[], findSecret: FindSecret): Buffer {
  let masked = body
  for (const header of headers) {
    const found = header.kind === 'secret' ? findSecret(header.secret) : null
    if (found?.kind !== 'value' || found.value.length < maskedBytesMin) continue
    masked = replaced(masked, Buffer.from(found.value, 'latin1'))
  }
  return masked
}

function replaced(body: Buffer, secret: Buffer): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (let at = body.indexOf(secret); at >= 0; at = body.indexOf(secret, from)) {
    parts.push(body.subarray(from, at), mask)
    from = at + secret.length
  }
  const rest = body.subarray(from)
  const cutBytes = cutAtEnd(rest, secret)
  if (parts.length === 0 && cutBytes === 0) return body
  parts.push(rest.subarray(0, rest.length - cutBytes))
  if (cutBytes > 0) parts.push(mask)
  return Buffer.concat(parts)
}

/** How many bytes at the end are the beginning of the secret. */
function cutAtEnd(body: Buffer, secret: Buffer): number {
  for (let bytes = Math.min(secret.length - 1, body.length); bytes >= maskedBytesMin; bytes--) {
    if (body.subarray(body.length - bytes).equals(secret.subarray(0, bytes))) return bytes
  }
  return 0
}
