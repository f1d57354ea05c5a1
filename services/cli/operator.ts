import { openCommandLog } from '@barnabas/registry'
import type { Command } from '@barnabas/core'
import type { Cluster } from './cluster.ts'
import { Refusal } from './refusal.ts'
import type { Terminal } from './terminal.ts'

/** Who gives the commands, for the record of what operators did. */
export function operatorOf(terminal: Pick<Terminal, 'env'>): string {
  const name = terminal.env['USER'] ?? terminal.env['USERNAME'] ?? ''
  return (name === '' ? 'unknown' : name).slice(0, 200)
}

/** Writes to `barnabas.commands`, and answers the record's offset. Throws a `Refusal` when that cannot be done: nothing happens off the record (row B8). */
export async function putOnRecord(
  { kafka, names }: Pick<Cluster, 'kafka' | 'names'>,
  command: Command,
): Promise<number> {
  const log = openCommandLog({ kafka, names, logger: { info: ignore, warn: ignore } })
  const written = await log.write(command)
  if (written.kind === 'acknowledged') return written.offset
  const whose = command.subscription === null ? '' : `${command.subscription}: `
  throw new Refusal(`${whose}the command cannot be written to ${names.commands}: ${written.message}`)
}

function ignore(): void {
  // Nothing is read here, and what cannot be written is said.
}
