import { oneLine } from './printable.ts'

/** A table for a person: columns as wide as their widest cell, two blanks between, nothing behind the last. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = columnsOf([header, ...rows])
  return [header, ...rows].map((row) => tableLine(row, widths)).join('\n')
}

/** The width of each column. */
export function columnsOf(rows: readonly (readonly string[])[]): readonly number[] {
  const columns = Math.max(...rows.map((row) => row.length))
  return Array.from({ length: columns }, (_, column) => Math.max(...rows.map((row) => shown(row[column]).length)))
}

/** One row with these widths; a wider cell moves the rest of its row. */
export function tableLine(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => (column === cells.length - 1 ? shown(cell) : shown(cell).padEnd(widths[column] ?? 0)))
    .join('  ')
}

function shown(cell: string | undefined): string {
  return cell === undefined || cell === '' ? '-' : oneLine(cell)
}
