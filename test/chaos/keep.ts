import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ChaosResult } from './run.ts'

/** Writes the ledger with its violations, and what the services said, into a folder of this seed; gives its path. */
export async function keepRun(parent: string, seed: number, result: ChaosResult): Promise<string> {
  const { violations, ledger, logs } = result
  const folder = join(parent, `seed-${seed}`)
  await mkdir(folder, { recursive: true })
  const whole = { ...ledger, sent: [...ledger.sent], violations }
  await writeFile(join(folder, 'ledger.json'), JSON.stringify(whole, null, 1))
  for (const { service, pid, lines } of logs) await writeFile(join(folder, `${service}-${pid}.log`), lines.join('\n'))
  return folder
}
