import { randomUUID } from 'node:crypto'
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { z } from 'zod'
import { parseJson } from './json.ts'
import { systemErrorCode } from './local-kafka-error.ts'
import { processIdentity } from './processes.ts'

/** What stands in a lock file. */
const lockHolder = z.object({
  pid: z.int().positive(),
  /** `processIdentity(pid)`: a pid alone may be somebody else's by now. */
  identity: z.string(),
})

export type LockHolder = Readonly<z.infer<typeof lockHolder>>

export type LockAttempt =
  { readonly kind: 'acquired'; readonly release: () => Promise<void> } | { readonly kind: 'held'; readonly pid: number }

/**
 * Takes the lock file for this process, also from a holder that is gone. Held means that a running process has it,
 * this one included. Throws only what the file system throws.
 */
export async function tryLock(path: string): Promise<LockAttempt> {
  const token = `${path}.${randomUUID()}`
  const own: LockHolder = { pid: process.pid, identity: (await processIdentity(process.pid)) ?? '' }
  await writeFile(token, JSON.stringify(own), { mode: 0o600 })
  try {
    for (;;) {
      if (await linkNew(token, path)) return acquired(path)
      const text = await readFile(path, 'utf8').catch(() => null)
      if (text === null) continue
      const holder = parseLock(text)
      if (holder !== null && isHeld(holder, await processIdentity(holder.pid))) return { kind: 'held', pid: holder.pid }
      if (await replaceStale(path, text, token)) return acquired(path)
    }
  } finally {
    await rm(token, { force: true })
  }
}

function acquired(path: string): LockAttempt {
  let releasing: Promise<void> | null = null
  // Once only: later the file may be another process's.
  return { kind: 'acquired', release: () => (releasing ??= rm(path, { force: true })) }
}

/** Unlike open(…, 'wx'), a link makes the file appear together with what stands in it. */
async function linkNew(token: string, path: string): Promise<boolean> {
  try {
    await link(token, path)
    return true
  } catch (error) {
    if (systemErrorCode(error) === 'EEXIST') return false
    throw error
  }
}

/**
 * Puts the token in the place of a stale lock, unless another process did so first. Whoever does it holds a lock for
 * that alone (stale ones of which are replaced in the same manner): removing the stale file without one would let a
 * slow process remove the fresh lock of a quick one.
 */
async function replaceStale(path: string, staleText: string, token: string): Promise<boolean> {
  const takeover = await tryLock(`${path}.takeover`)
  if (takeover.kind === 'held') return false
  try {
    if ((await readFile(path, 'utf8').catch(() => null)) !== staleText) return false
    await rename(token, path)
    return true
  } finally {
    await takeover.release()
  }
}

/** The holder that a lock file names, null when it is damaged (then nobody can hold it: it is linked in whole). */
export function parseLock(text: string): LockHolder | null {
  return lockHolder.safeParse(parseJson(text)).data ?? null
}

/** `running` is the identity of the process that has the holder's pid now, null when none has. */
export function isHeld(holder: LockHolder, running: string | null): boolean {
  return running !== null && running === holder.identity
}
