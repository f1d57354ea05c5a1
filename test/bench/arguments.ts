import { parseArgs } from 'node:util'
import { sizes } from './sizes.ts'
import type { Size, SizeName } from './sizes.ts'

export interface BenchArguments {
  readonly scenarios: readonly string[]
  readonly size: Size
  readonly json: boolean
  /** Where the CPU profiles of the measured dispatchers go. */
  readonly profileFolder: string | undefined
}

export type ParsedArguments =
  | { readonly kind: 'run'; readonly arguments: BenchArguments }
  | { readonly kind: 'help' }
  | { readonly kind: 'wrong'; readonly message: string }

/** Reads the command line. `titles`: what each scenario that there is measures, by its name. */
export function readArguments(args: readonly string[], titles: Readonly<Record<string, string>>): ParsedArguments {
  const parsed = parse(args)
  if (typeof parsed === 'string') return { kind: 'wrong', message: parsed }
  const { values, positionals } = parsed
  if (values.help) return { kind: 'help' }

  const named = [...(values.only ?? '').split(','), ...positionals].map((name) => name.trim()).filter(Boolean)
  const unknown = named.find((name) => titles[name] === undefined)
  if (unknown !== undefined) {
    return { kind: 'wrong', message: `there is no scenario "${unknown}"; there are ${Object.keys(titles).join(', ')}` }
  }
  if (values.quick && values.smoke) return { kind: 'wrong', message: 'say --quick or --smoke, not both' }
  const sizeName: SizeName = values.smoke ? 'smoke' : values.quick ? 'quick' : 'full'
  const size: Size = { ...sizes[sizeName] }
  for (const key of ['events', 'rounds', 'parked', 'backlog'] as const) {
    const text = values[key]
    if (text === undefined) continue
    if (!/^[1-9]\d{0,8}$/.test(text)) {
      return { kind: 'wrong', message: `--${key} is "${text}"; it has to be a whole number of at least 1` }
    }
    size[key] = Number(text)
  }
  return {
    kind: 'run',
    arguments: {
      // In the order of the table, each once.
      scenarios: Object.keys(titles).filter((name) => named.length === 0 || named.includes(name)),
      size,
      json: values.json,
      profileFolder: values['cpu-prof'],
    },
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        only: { type: 'string' },
        quick: { type: 'boolean', default: false },
        smoke: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        events: { type: 'string' },
        rounds: { type: 'string' },
        parked: { type: 'string' },
        backlog: { type: 'string' },
        'cpu-prof': { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

export function helpText(titles: Readonly<Record<string, string>>): string {
  const { full, quick } = sizes
  return `usage: pnpm bench [options]

What a delivery costs, beside what it costs without Barnabas, on a Kafka of its own or on KAFKA_BROKERS. Linux only.
Give it the machine alone: what else runs changes every figure.

${Object.entries(titles)
  .map(([name, title]) => `  ${name.padEnd(4)} ${title}`)
  .join('\n')}

  --only S1,S5        these scenarios; all without it (about half an hour)
  --quick             small counts and one round: whether it works, not how fast
  --smoke             a few hundred events: figures mean nothing, the exit status does
  --json              every figure of every round as JSON
  --events N          measured per run (${full.events}; quick ${quick.events})
  --rounds N          how often each is measured, in turns with its baselines (${full.rounds}; quick ${quick.rounds})
  --parked N          retries parked in S6, at ${full.parkedPerSecond} a second (${full.parked}; quick ${quick.parked})
  --backlog N         events worked off in S7 (${full.backlog}; quick ${quick.backlog})
  --cpu-prof FOLDER   CPU profiles of the measured dispatchers; they cost 10-20 % themselves
  --help              this

Exit status 1 when an event was lost, delivered twice or attempted early; never because a target was missed.
Example:

  pnpm bench --only S1,S4 --events 200000 --rounds 5`
}
