import { printable } from './printable.ts'

/** Names and values below each other, the values in one column; of several lines each stands in that column. */
export function fields(entries: readonly (readonly [name: string, value: string])[], indent = ''): string {
  const width = Math.max(...entries.map(([name]) => name.length)) + 2
  return entries
    .map(([name, value]) => {
      const lines = printable(value === '' ? '-' : value).split('\n')
      return `${indent}${printable(name).padEnd(width)}${lines.join(`\n${indent}${' '.repeat(width)}`)}`
    })
    .join('\n')
}
