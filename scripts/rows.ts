import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { page } from './markdown.ts'

const root = join(import.meta.dirname, '..')

/** What docs/requirements.md says of one row in its column "now". */
export type RowState = 'yes' | 'partly' | 'later'

export interface RowReport {
  /** Rows that work as the page says, and that no test cites. */
  readonly unproved: readonly string[]
  /** Rows that the page calls `later`, and that a test cites already. */
  readonly noLongerLater: readonly string[]
  /** Rows that are `later` and not yet cited: what is open. */
  readonly open: readonly string[]
}

/** Every row of docs/requirements.md. Throws where the column "now" says something else than its three words. */
export function readRows(requirements: string): ReadonlyMap<string, RowState> {
  const rows = new Map<string, RowState>()
  for (const line of requirements.split('\n')) {
    const [, row, , now] = line.split('|').map((cell) => cell.trim())
    if (row === undefined || !/^[A-D]\d{1,2}$/.test(row)) continue
    if (now !== 'yes' && now !== 'partly' && now !== 'later') {
      throw new Error(`docs/requirements.md: ${row}: now is ${JSON.stringify(now)}; one of yes, partly, later`)
    }
    rows.set(row, now)
  }
  return rows
}

const list = String.raw`[A-D]\d{1,2}(?:, [A-D]\d{1,2})*`
/** `'A6, A8: the title'`, `'the title (A6, A8)'`, and `row A6` or `rows A6, A8` in a comment or a title. */
const citations = [
  new RegExp(String.raw`['"\`](${list}): `, 'g'),
  new RegExp(String.raw`\((${list})\)['"\`]`, 'g'),
  new RegExp(String.raw`\b[Rr]ows? (${list})\b`, 'g'),
]

/** The rows that a file of tests cites (CONTRIBUTING.md, "Tests"). */
export function rowsCitedIn(source: string): ReadonlySet<string> {
  const cited = citations.flatMap((citation) =>
    [...source.matchAll(citation)].flatMap(([, rows = '']) => rows.split(', ')),
  )
  return new Set(cited)
}

export function reportRows(rows: ReadonlyMap<string, RowState>, cited: ReadonlySet<string>): RowReport {
  const namesOf = (wanted: (state: RowState, isCited: boolean) => boolean): string[] =>
    [...rows].filter(([row, state]) => wanted(state, cited.has(row))).map(([row]) => row)
  return {
    unproved: namesOf((state, isCited) => state !== 'later' && !isCited),
    noLongerLater: namesOf((state, isCited) => state === 'later' && isCited),
    open: namesOf((state, isCited) => state === 'later' && !isCited),
  }
}

/** The report on the repository as it stands. */
export function reportRepository(): RowReport {
  // The tests of this very file cite rows without proving them.
  const files = globSync('{packages,services,test,scripts}/**/*.test.ts', {
    cwd: root,
    exclude: (path) => path.endsWith('node_modules') || path.endsWith('rows.test.ts'),
  })
  const cited = files.flatMap((file) => [...rowsCitedIn(readFileSync(join(root, file), 'utf8'))])
  return reportRows(readRows(page('docs/requirements.md')), new Set(cited))
}
