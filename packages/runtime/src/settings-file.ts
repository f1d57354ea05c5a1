import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parse } from 'yaml'
import { fileProblem } from './file-problem.ts'

export type SettingsFileReading =
  | { readonly kind: 'read'; readonly root: unknown }
  /** One sentence that names the file. */
  | { readonly kind: 'failed'; readonly message: string }

const textLengthMax = 2_000_000

/** Reads a file of settings, YAML or JSON, whose path begins at `cwd`. Never rejects, and shows nothing of what stands in it. */
export async function readSettingsFile(file: string, cwd: string): Promise<SettingsFileReading> {
  let text: string
  try {
    text = await readFile(resolve(cwd, file), 'utf8')
  } catch (error) {
    return { kind: 'failed', message: fileProblem(file, error) }
  }
  if (text.length > textLengthMax) {
    return { kind: 'failed', message: `${file} has more than ${textLengthMax} characters` }
  }
  try {
    return { kind: 'read', root: parse(text) as unknown }
  } catch {
    // The parser's message quotes the text, in which a secret may stand where none belongs.
    return { kind: 'failed', message: `${file} is neither YAML nor JSON` }
  }
}
