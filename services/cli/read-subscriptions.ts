import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseSubscription } from '@barnabas/core'
import type { ParseOptions, ValidSubscription } from '@barnabas/core'
import type { AddressCheck } from '@barnabas/webhook'
import { fileProblem } from './file-problem.ts'
import type { Terminal } from './terminal.ts'
import { readDocuments } from './yaml-documents.ts'

export interface ReadOptions extends ParseOptions {
  /** What can be said of a sink without asking anybody. */
  readonly checkSink: (url: string) => AddressCheck
}

export interface ReadSubscriptions {
  readonly subscriptions: readonly ValidSubscription[]
  /** A sentence each, with file, line and column before it. */
  readonly problems: readonly string[]
}

/** One file's text and the name that messages give it. */
export interface SourceText {
  readonly name: string
  readonly text: string
}

/** Reads the files (`-` is standard input), or says what keeps one from being read. */
export async function readTexts(
  terminal: Terminal,
  files: readonly string[],
): Promise<{ readonly texts: readonly SourceText[]; readonly problems: readonly string[] }> {
  const texts: SourceText[] = []
  const problems: string[] = []
  for (const file of new Set(files)) {
    try {
      const isStdin = file === '-'
      const text = isStdin ? await terminal.readStdin() : await readFile(resolve(terminal.cwd, file), 'utf8')
      texts.push({ name: isStdin ? 'standard input' : file, text })
    } catch (error) {
      problems.push(fileProblem(file, error))
    }
  }
  return { texts, problems }
}

/** Every subscription of every text, and every problem of all of them. Pure. */
export function readSubscriptions(texts: readonly SourceText[], options: ReadOptions): ReadSubscriptions {
  const subscriptions: ValidSubscription[] = []
  const problems: string[] = []
  const firstPlaces = new Map<string, string>()
  for (const { name, text } of texts) {
    const read = readDocuments(text)
    problems.push(...read.problems.map(({ line, column, message }) => `${name}:${line}:${column}: ${message}`))
    if (read.documents.length === 0 && read.problems.length === 0) problems.push(`${name}: holds no subscription`)
    for (const document of read.documents) {
      const place = (path: readonly (string | number)[]) => {
        const { line, column } = document.positionOf(path)
        return `${name}:${line}:${column}`
      }
      const parsed = parseSubscription(document.value, options)
      if (parsed.kind === 'invalid') {
        problems.push(...parsed.problems.map(({ path, message }) => `${place(path)}: ${message}`))
        continue
      }
      const { id, sink } = parsed.subscription
      const first = firstPlaces.get(id)
      if (first !== undefined) problems.push(`${place(['id'])}: id: "${id}" stands twice, first at ${first}`)
      firstPlaces.set(id, first ?? place(['id']))
      const check = options.checkSink(sink)
      if (check.kind === 'forbidden') problems.push(`${place(['sink'])}: sink: ${check.message}`)
      subscriptions.push(parsed)
    }
  }
  return { subscriptions, problems }
}
