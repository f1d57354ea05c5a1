import { oneLine } from '@barnabas/core'
import type { AlibabaCredentials } from '@barnabas/host'
import type { TargetWrite } from './target.ts'

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

export function inParts<Item>(items: readonly Item[], lengthMax: number): readonly (readonly Item[])[] {
  return items.flatMap((_, index) => (index % lengthMax === 0 ? [items.slice(index, index + lengthMax)] : []))
}

/**
 * Tries one part after the other; the results stand in the order of the items. Once nothing of a part got through, the
 * others are left for the next try: a server that does not answer takes the time of one part, not of all.
 */
export async function inTurn<Item>(
  parts: readonly (readonly Item[])[],
  tryPart: (part: readonly Item[]) => Promise<readonly TargetWrite[]>,
): Promise<readonly TargetWrite[]> {
  const results: TargetWrite[] = []
  let stuck: TargetWrite | undefined
  for (const part of parts) {
    const written = stuck === undefined ? await tryPart(part) : Array<TargetWrite>(part.length).fill(stuck)
    results.push(...written)
    if (written.every(({ kind }) => kind === 'unavailable')) stuck = written[0]
  }
  return results
}
