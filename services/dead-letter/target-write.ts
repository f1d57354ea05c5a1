import { oneLine } from '@barnabas/core'

/** What one try to write a dead letter to a target of another system came to. Messages are one line without secrets. */
export type TargetWrite =
  | { readonly kind: 'accepted' }
  /** It may pass: away, overloaded, or something that an operator mends. It is tried again, without end. */
  | { readonly kind: 'unavailable'; readonly message: string }
  /** No retry helps: the dead letter stays in its topic, is counted and listed. */
  | { readonly kind: 'refused'; readonly code: string; readonly message: string }

/** Who writes, at Alibaba Cloud. */
export interface AlibabaCredentials {
  readonly accessKeyId: string
  readonly accessKeySecret: string
  /** Of temporary credentials (STS); null for others. */
  readonly securityToken: string | null
}

export const accepted: TargetWrite = { kind: 'accepted' }

export function unavailable(message: string): TargetWrite {
  return { kind: 'unavailable', message: shortLine(message) }
}

export function refused(code: string, message: string): TargetWrite {
  return { kind: 'refused', code: shortLine(code), message: shortLine(message) }
}

const messageCharactersMax = 300

/** What a server says is of any length, and an answer may repeat what it was sent. */
function shortLine(text: string): string {
  return oneLine(text).slice(0, messageCharactersMax)
}

/** Without the credentials, which a server may quote in what it says. */
export function withoutCredentials(text: string, { accessKeySecret, securityToken }: AlibabaCredentials): string {
  return [accessKeySecret, securityToken].reduce<string>(
    (line, secret) => (secret === null || secret === '' ? line : line.replaceAll(secret, '(secret)')),
    text,
  )
}
