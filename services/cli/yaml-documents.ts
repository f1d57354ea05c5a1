import { LineCounter, isAlias, isCollection, isMap, isScalar, isSeq, parseAllDocuments, visit } from 'yaml'
import type { Document, Node, Pair } from 'yaml'

/** Where something stands in a file, both counted from 1. */
export interface Position {
  readonly line: number
  readonly column: number
}

/** One subscription as it stands in a file: its value, not looked into, and the way back to its lines. */
export interface WrittenDocument {
  readonly value: unknown
  /** Where the field stands that a path leads to; of a missing one, where its parent stands. */
  positionOf(path: readonly (string | number)[]): Position
}

export interface TextProblem extends Position {
  readonly message: string
}

export interface ReadDocuments {
  readonly documents: readonly WrittenDocument[]
  readonly problems: readonly TextProblem[]
}

/** A tree of nodes that know their lines takes a hundred times the memory of a text: a larger one has to be JSON. */
const yamlLengthMax = 2_000_000

/** Reads YAML, and JSON, which is YAML too: several documents, each of them one subscription or a list of them. */
export function readDocuments(text: string): ReadDocuments {
  if (text.length > yamlLengthMax) return readLargeJson(text)
  const lineCounter = new LineCounter()
  const positionAt = (offset: number): Position => {
    const { line, col } = lineCounter.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  const documents: WrittenDocument[] = []
  const problems: TextProblem[] = []
  const parsed = parseAllDocuments(text, { lineCounter, prettyErrors: false, stringKeys: false })
  if (!Array.isArray(parsed)) return { documents, problems }
  for (const document of parsed as Document.Parsed[]) {
    const broken = [...document.errors, ...document.warnings].map(({ pos, message }) => {
      return { ...positionAt(pos[0]), message: firstLine(message) }
    })
    problems.push(...broken)
    if (broken.length > 0 || document.contents === null) continue
    const roots = isSeq(document.contents) ? (document.contents.items as Node[]) : [document.contents as Node]
    // An empty document between two `---` is a scalar of nothing.
    for (const root of roots.filter((each) => !isEmptyDocument(each, document))) {
      const value = valueOf(root, document)
      if (value.kind === 'broken') problems.push({ ...positionAt(value.offset ?? 0), message: value.message })
      else {
        documents.push({
          value: value.value,
          positionOf: (path) => positionAt(offsetOf(path, root, document)),
        })
      }
    }
  }
  return { documents, problems }
}

/** Without lines: every problem is told at the beginning. */
function readLargeJson(text: string): ReadDocuments {
  const beginning = { line: 1, column: 1 }
  try {
    const value: unknown = JSON.parse(text)
    const roots: readonly unknown[] = Array.isArray(value) ? value : [value]
    return { documents: roots.map((root) => ({ value: root, positionOf: () => beginning })), problems: [] }
  } catch {
    const message = `is no JSON, and longer than the ${yamlLengthMax} characters that YAML may have; split it`
    return { documents: [], problems: [{ ...beginning, message }] }
  }
}

type Value =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'broken'; readonly message: string; readonly offset: number | undefined }

function valueOf(root: Node, document: Document.Parsed): Value {
  try {
    return { kind: 'value', value: root.toJS(document, { maxAliasCount: 100 }) }
  } catch (error) {
    // An alias without its anchor, or so many of them that they would fill the memory.
    const message = error instanceof Error ? error.message : String(error)
    return { kind: 'broken', message, offset: lostAlias(root, document) ?? root.range?.[0] }
  }
}

function lostAlias(root: Node, document: Document.Parsed): number | undefined {
  let offset: number | undefined
  visit(root, {
    Alias(_key, alias) {
      if (alias.resolve(document) !== undefined) return undefined
      offset = alias.range?.[0]
      return visit.BREAK
    },
  })
  return offset
}

function isEmptyDocument(root: Node, document: Document.Parsed): boolean {
  return root === document.contents && isScalar(root) && root.value === null && (root.source ?? '') === ''
}

function offsetOf(path: readonly (string | number)[], root: Node, document: Document.Parsed): number {
  let node: Node | undefined = root
  let offset = root.range?.[0] ?? 0
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document)
    if (isSeq(node)) {
      node = typeof step === 'number' ? (node.items[step] as Node | undefined) : undefined
      offset = node?.range?.[0] ?? offset
      continue
    }
    const pair: Pair<Node, Node | null> | undefined = isMap<Node, Node | null>(node)
      ? node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      : undefined
    if (pair === undefined) return offset
    node = pair.value ?? undefined
    // Of a list or mapping the line of its name says more than that of its first entry.
    const place: Node = node === undefined || isCollection(node) || !node.range ? pair.key : node
    offset = place.range?.[0] ?? offset
  }
  return offset
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? message
}
