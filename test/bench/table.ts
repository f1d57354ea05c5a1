import { judge } from './figure.ts'
import type { Figure } from './figure.ts'

const head = ['', 'figure', 'measured', 'baseline', 'compared', 'target', 'met']
const textColumns = 2

/** The figures as text, one a line: medians, and whether the target is met. */
export function tableText(figures: readonly Figure[]): string {
  const lines = [head, ...figures.map(cells)]
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  return lines
    .map((line) =>
      line
        .map((cell, column) => (column < textColumns ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cells(figure: Figure): readonly string[] {
  const { scenario, what, unit, of, baseline, target } = figure
  const { value, baseline: baselineValue, compared, isMet } = judge(figure)
  const comparedText = (number: number) => {
    switch (of) {
      case 'value':
        return `${numberText(number)} ${unit}`
      case 'ratio':
        return `× ${number.toFixed(2)}`
      case 'difference':
        return `${number < 0 ? '–' : '+'} ${numberText(Math.abs(number))} ${unit}`
      default:
        return of satisfies never
    }
  }
  return [
    scenario,
    what,
    `${numberText(value)} ${unit}`,
    baseline === undefined || baselineValue === null ? '' : `${baseline.name} ${numberText(baselineValue)}`,
    of === 'value' ? '' : comparedText(compared),
    target === undefined
      ? ''
      : `${target.kind === 'at most' ? '≤' : '≥'} ${comparedText(target.limit)}${goalText(figure)}`,
    isMet === null ? '' : isMet ? 'yes' : 'no',
  ]
}

function goalText({ target }: Figure): string {
  return target?.kind === 'at most' && target.goal !== undefined ? ` (goal ${numberText(target.goal)})` : ''
}

/** Three digits that say something: 0.42, 4.20, 42.0, 420, 42,000. */
export function numberText(number: number): string {
  if (!Number.isFinite(number)) return '–'
  const size = Math.abs(number)
  if (size >= 100) return Math.round(number).toLocaleString('en-US')
  return number.toFixed(size >= 10 ? 1 : 2)
}
