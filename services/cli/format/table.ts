import { oneLine } from './printable.ts'

/** A table for a person: columns as wide as their widest cell, two blanks between, nothing behind the last. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows].map((row) => row.map((cell) => (cell === '' ? '-' : oneLine(cell))))
  const widths = header.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines.map((line) => tableLine(line, widths)).join('\n')
}

function tableLine(cells: readonly string[], widths: readonly number[]): string {
  return cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join('  ')
}
