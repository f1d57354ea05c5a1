import { createWriteStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ChaosResult } from './run.ts'

/**
 * Writes the ledger with its violations, and what the services said, into a folder of this seed; gives its path. One
 * file of JSON lines for each part of the ledger: as one text a long run is longer than a string may be.
 */
export async function keepRun(parent: string, seed: number, result: ChaosResult): Promise<string> {
  const { violations, ledger, logs } = result
  const folder = join(parent, `seed-${seed}`)
  await mkdir(folder, { recursive: true })
  const { attempts, letters, windows, endings } = ledger
  const parts = {
    violations,
    attempts,
    letters,
    windows,
    endings,
    sent: [...ledger.sent].map(([id, sent]) => ({ id, ...sent })),
  }
  for (const [name, values] of Object.entries(parts)) {
    const lines = Readable.from(linesOf(values))
    await pipeline(lines, createWriteStream(join(folder, `${name}.jsonl`)))
  }
  for (const { service, pid, lines } of logs) await writeFile(join(folder, `${service}-${pid}.log`), lines.join('\n'))
  return folder
}

function* linesOf(values: readonly unknown[]): Generator<string> {
  for (const value of values) yield `${JSON.stringify(value)}\n`
}
