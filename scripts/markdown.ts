import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One row of a table: its cells by the names of their columns, as they are written, code marks included. */
export type Row = Readonly<Record<string, string>>

export interface CodeBlock {
  readonly language: string
  readonly text: string
}

const root = join(import.meta.dirname, '..')

/** The text of a page, its path seen from the root of the repository. */
export function page(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/**
 * The rows of a table by the text of their first cell, without its code marks. It is the `tableNumber`-th table below
 * the heading, and before the next heading of any level. Throws when it is not there or a first cell stands twice.
 */
export function tableOf(markdown: string, heading: string, tableNumber = 1): ReadonlyMap<string, Row> {
  const tables = section(markdown, heading)
    .split(/\n\s*\n/)
    .map((block) => block.split('\n').filter((line) => /^\s*\|/.test(line)))
    .filter((lines) => lines.length > 2 && /^[\s|:-]+$/.test(lines[1]!))
  const [head, , ...lines] = tables[tableNumber - 1] ?? []
  if (head === undefined) throw new Error(`there is no table ${tableNumber} below "${heading}"`)
  const columns = cells(head)
  const rows = new Map<string, Row>()
  for (const line of lines) {
    const row = cells(line)
    const key = plain(row[0] ?? '')
    if (rows.has(key)) throw new Error(`the row ${key} stands twice below "${heading}"`)
    rows.set(key, Object.fromEntries(columns.map((column, index) => [plain(column), row[index] ?? ''])))
  }
  return rows
}

/** The text below a heading, up to the next one, without blocks of code. */
function section(markdown: string, heading: string): string {
  const [, text] = withoutCode(markdown).split(new RegExp(`^#+ ${heading}$`, 'm'))
  if (text === undefined) throw new Error(`there is no heading "${heading}"`)
  return text.split(/^#+ /m)[0] ?? ''
}

/** Every fenced block of code, from the heading on when one is given. */
export function codeBlocks(markdown: string, fromHeading?: string): readonly CodeBlock[] {
  if (fromHeading !== undefined) return codeBlocks(markdown.slice(markdown.indexOf(`# ${fromHeading}\n`)))
  return [...markdown.matchAll(/^```(\w*)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }))
}

/** The anchors that a link to this page may name, made of its headings as GitHub makes them. */
export function anchors(markdown: string): ReadonlySet<string> {
  const headings = [...withoutCode(markdown).matchAll(/^#+ (.*)$/gm)].map(([, text = '']) => text)
  return new Set(
    headings.map((text) =>
      text
        .toLowerCase()
        .replace(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  )
}

/** Every piece of `code` in running text and tables. */
export function codeSpans(text: string): readonly string[] {
  return [...withoutCode(text).matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
}

/**
 * How a documented table differs from what the code says, empty when it does not: one line for each missing row, each
 * extra one, and each cell of the columns in `actual` that is another.
 */
export function differences(
  name: string,
  documented: ReadonlyMap<string, Row>,
  actual: ReadonlyMap<string, Row>,
): string {
  const missing = [...actual.keys()].filter((key) => !documented.has(key))
  const extra = [...documented.keys()].filter((key) => !actual.has(key))
  const wrong = [...actual].flatMap(([key, row]) =>
    Object.entries(row).flatMap(([column, value]) => {
      const written = documented.get(key)?.[column]
      return !documented.has(key) || written === value
        ? []
        : [`${name}: ${key}: ${column}: the page says ${JSON.stringify(written)}, the code ${JSON.stringify(value)}`]
    }),
  )
  return [
    ...missing.map((key) => `${name}: the row ${key} is missing`),
    ...extra.map((key) => `${name}: the row ${key} is not in the code`),
    ...wrong,
  ].join('\n')
}

/** What a table must say: a row for each entry. */
export function rowsOf<Entry>(
  entries: readonly Entry[],
  key: (entry: Entry) => string,
  row: (entry: Entry) => Row,
): ReadonlyMap<string, Row> {
  return new Map(entries.map((entry) => [key(entry), row(entry)]))
}

/** Where only the first column is compared. */
export function onlyKeys(keys: readonly string[]): ReadonlyMap<string, Row> {
  return rowsOf(keys, String, () => ({}))
}

/** A cell without its code marks. */
export function plain(cell: string): string {
  return cell.replaceAll('`', '')
}

function cells(line: string): string[] {
  return line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split('|')
    .map((cell) => cell.trim())
}

function withoutCode(markdown: string): string {
  return markdown.replaceAll(/^```.*?^```$/gms, '')
}
