import { formatDuration, parseDuration } from './duration.ts'
import { didYouMean } from './nearest-name.ts'
import { probationCauses, probationLengthMaxMs, probationLengthMinMs, probationStepsMax } from './probation-policy.ts'
import type { ProbationSpec } from './probation-policy.ts'
import type { Report } from './subscription-field.ts'
import { isMapping, readList, shown } from './subscription-field.ts'

type Cause = (typeof probationCauses)[number]

/** `probation` as it was read, every duration as it was written. */
export interface WrittenProbation {
  readonly after?: number | undefined
  readonly steps?: readonly string[] | undefined
  readonly lengths?: Readonly<Partial<Record<Cause, string>>> | undefined
  readonly clientErrors?: readonly Cause[] | undefined
}

/** How long it lasts after each probe that failed: longer and longer. */
export function readProbationSteps(value: unknown, report: Report): readonly string[] | undefined {
  const list = readList(value, report, probationStepsMax, '[10s, 1m, 5m]')
  if (list === undefined) return undefined
  if (list.length === 0) return report('is empty; name at least one, or switch probation off with probation: none')
  const steps = list.map((entry, index) => readLength(entry, report, index))
  const lengthsMs = steps.map((step) => parseDuration(step) ?? 0)
  const shorter = lengthsMs.findIndex((lengthMs, index) => index > 0 && lengthMs <= (lengthsMs[index - 1] ?? 0))
  if (steps.includes(undefined)) return undefined
  if (shorter > 0)
    return report(`${steps[shorter]} is not longer than the step before it, ${steps[shorter - 1]}`, shorter)
  return steps as readonly string[]
}

/** Row A17: first lengths by outcome; those that are not named keep their default. */
export function readProbationLengths(value: unknown, report: Report): WrittenProbation['lengths'] {
  if (!isMapping(value)) return report(`${shown(value)} is not a mapping of outcomes to durations; write { Busy: 10s }`)
  const lengths = Object.entries(value).map(([name, length]) => {
    readCause(name, report, name)
    return [name, readLength(length, report, name)] as const
  })
  return Object.fromEntries(lengths) as WrittenProbation['lengths']
}

export function readClientErrors(value: unknown, report: Report): readonly Cause[] | undefined {
  const list = readList(value, report, probationCauses.length, '[Unauthorized, Forbidden]')
  return list?.flatMap((entry, index) => readCause(entry, report, index) ?? [])
}

export function probationSpecOf(written: WrittenProbation | undefined): ProbationSpec {
  const { after, steps, lengths, clientErrors } = written ?? {}
  const lengthsMs = Object.entries(lengths ?? {}).map(([name, length]) => [name, parseDuration(length) ?? 0])
  return {
    after,
    stepsMs: steps?.map((step) => parseDuration(step) ?? 0),
    lengthsMs: Object.fromEntries(lengthsMs) as ProbationSpec['lengthsMs'],
    clientErrors,
  }
}

function readCause(value: unknown, report: Report, below: string | number): Cause | undefined {
  const cause = probationCauses.find((each) => each === value)
  if (cause !== undefined) return cause
  const allowed = probationCauses.join(', ')
  return report(
    `${shown(value)} is not an outcome that can cause it; one of ${allowed}${didYouMean(value, probationCauses)}`,
    below,
  )
}

function readLength(value: unknown, report: Report, below: string | number): string | undefined {
  const lengthMs = parseDuration(value)
  if (lengthMs === null) {
    return report(`${shown(value)} is not a duration; a whole number with ms, s, m, h or d, such as 30s`, below)
  }
  if (lengthMs >= probationLengthMinMs && lengthMs <= probationLengthMaxMs) return value as string
  const [min, max] = [formatDuration(probationLengthMinMs), formatDuration(probationLengthMaxMs)]
  return report(`${String(value)} is not from ${min} to ${max}`, below)
}
