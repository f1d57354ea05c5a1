import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readApiDestinations } from '@barnabas/core'
import type { ApiDestinations } from '@barnabas/core'
import { parse } from 'yaml'
import { fileProblem } from './file-problem.ts'
import { Refusal } from './refusal.ts'
import type { Terminal } from './terminal.ts'

const textLengthMax = 2_000_000

/** What stands in `BARNABAS_DESTINATIONS_FILE`, YAML or JSON; null without one. Throws a `Refusal` that names the file. */
export async function readDestinationsFile(terminal: Terminal, file: string | null): Promise<ApiDestinations | null> {
  if (file === null) return null
  const refuse = (problem: string) => new Refusal(`BARNABAS_DESTINATIONS_FILE: ${problem}`)
  const text = await readFile(resolve(terminal.cwd, file), 'utf8').catch((error: unknown) => {
    throw refuse(fileProblem(file, error))
  })
  if (text.length > textLengthMax) throw refuse(`${file} has more than ${textLengthMax} characters`)
  const read = readApiDestinations(parsed(text, () => refuse(`${file} is neither YAML nor JSON`)))
  if (read.kind === 'destinations') return read.destinations
  throw refuse(read.problems.map(({ message }) => `${file}: ${message}`).join('\n'))
}

function parsed(text: string, refusal: () => Refusal): unknown {
  try {
    return parse(text) as unknown
  } catch {
    // The parser's message quotes the text, in which a secret may stand where none belongs.
    throw refusal()
  }
}
