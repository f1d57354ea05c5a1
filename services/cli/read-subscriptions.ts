import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { kafkaSinkOf, parseSubscription, problemOf } from '@barnabas/core'
import type { ParseOptions, ValidSubscription } from '@barnabas/core'
import type { AddressCheck } from '@barnabas/webhook'
import { fileProblem } from '@barnabas/runtime'
import { supply } from './supply.ts'
import type { Supplied } from './supply.ts'
import type { Terminal } from './terminal.ts'
import { readDocuments } from './yaml-documents.ts'
import type { Position, TextProblem } from './yaml-documents.ts'

export interface ReadOptions extends ParseOptions {
  /** What can be said of a sink without asking anybody. */
  readonly checkSink: (url: string) => AddressCheck
  /** `--id` and `--topic`. */
  readonly supplied?: Supplied
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
  const { supplied = {} } = options
  let documents = 0
  const firstPlaces = new Map<string, string>()
  for (const { name, text } of texts) {
    const read = readDocuments(text)
    const ofText: TextProblem[] = [...read.problems]
    if (read.documents.length === 0 && ofText.length === 0) problems.push(`${name}: holds no subscription`)
    for (const document of read.documents) {
      const report = (path: readonly (string | number)[], message: string) =>
        ofText.push({ ...document.positionOf(path), message })
      documents += 1
      const { value, problems: contradictions } = supply(document.value, supplied)
      for (const { path, message } of contradictions) report(path, message)
      const parsed = parseSubscription(value, options)
      if (parsed.kind === 'invalid') {
        for (const { path, message } of parsed.problems) report(path, message)
        continue
      }
      const { id, sink } = parsed.subscription
      const first = firstPlaces.get(id)
      if (first !== undefined) report(['id'], `id: "${id}" stands twice, first at ${first}`)
      firstPlaces.set(id, first ?? placeOf(name, document.positionOf(['id'])))
      const check = kafkaSinkOf(sink) === null ? options.checkSink(sink) : null
      if (check?.kind === 'forbidden') {
        const { path, message } = problemOf(parsed, 'sink', check.message)
        report(path, message)
      }
      subscriptions.push(parsed)
    }
    const inOrder = ofText.toSorted((one, other) => one.line - other.line || one.column - other.column)
    problems.push(...inOrder.map((problem) => `${placeOf(name, problem)}: ${problem.message}`))
  }
  if (supplied.id !== undefined && documents > 1) {
    problems.push(`--id: names one subscription, but ${documents} are given; write \`id\` in each of them`)
  }
  return { subscriptions, problems }
}

function placeOf(name: string, { line, column }: Position): string {
  return `${name}:${line}:${column}`
}
