import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Where the secrets of subscriptions stand: what the environment said of them when the process started. */
export interface SecretsConfig {
  /** `BARNABAS_SECRET_<NAME>`, by name. */
  readonly values: Readonly<Record<string, string>>
  /** `BARNABAS_SECRET_<NAME>_FILE`, by name. */
  readonly files: Readonly<Record<string, string>>
  /** `BARNABAS_SECRETS_DIR`. */
  readonly dir: string | null
}

/** What a secret means here. The message says how to set it, and nothing of its value. */
export type FoundSecret =
  { readonly kind: 'value'; readonly value: string } | { readonly kind: 'unknown'; readonly message: string }

/** A secret that changes in its file is taken up after this time at the latest. */
const readAgainMs = 10_000
const fileBytesMax = 65_536

export interface SecretsOptions {
  readonly now: () => number
  /** Throws when the file cannot be read. */
  readonly readFile?: (path: string) => string
}

/**
 * Finds secrets by name: the variable itself, else the file that its `_FILE` form names, else the file of that name in
 * the directory. Files are read when a secret is first asked for and again after 10 s, so that a secret can be renewed
 * under a running process; while a file cannot be read (a volume is being replaced), what was read last holds.
 */
export function createSecrets(
  { values, files, dir }: SecretsConfig,
  { now, readFile = readSmallFile }: SecretsOptions,
): (name: string) => FoundSecret {
  const read = new Map<string, { readonly found: FoundSecret; readonly at: number }>()

  return function find(name) {
    const value = values[name]
    if (value !== undefined) return { kind: 'value', value }
    const path = files[name] ?? (dir === null ? null : join(dir, name))
    if (path === null) return unknown(name, '')
    const before = read.get(path)
    const at = now()
    // A clock that was set back does not keep a secret for ever.
    if (before !== undefined && Math.abs(at - before.at) < readAgainMs) return before.found
    const found = readFrom(path, name)
    const kept = found.kind === 'unknown' && before?.found.kind === 'value' ? before.found : found
    read.set(path, { found: kept, at })
    return kept
  }

  function readFrom(path: string, name: string): FoundSecret {
    try {
      // An editor or `echo` ends the file with a line break that is no part of the secret.
      return { kind: 'value', value: readFile(path).replace(/\r?\n$/, '') }
    } catch (error) {
      return unknown(name, ` (${error instanceof Error ? error.message : String(error)})`)
    }
  }
}

function unknown(name: string, why: string): FoundSecret {
  const message =
    `the secret ${name} is not known${why}; set BARNABAS_SECRET_${name}, ` +
    `or put a file ${name} into BARNABAS_SECRETS_DIR, for the dispatcher and the retrier`
  return { kind: 'unknown', message }
}

/** Not a device or a pipe, which may never end. */
function readSmallFile(path: string): string {
  const stat = statSync(path)
  if (!stat.isFile()) throw new Error(`${path} is not a file`)
  if (stat.size > fileBytesMax) throw new Error(`${path} has ${stat.size} bytes, more than a secret may`)
  return readFileSync(path, 'utf8')
}
