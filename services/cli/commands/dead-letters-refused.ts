import type { Command } from 'commander'
import { readSurroundings, withCluster } from '../cluster.ts'
import { refusalTable } from '../format/refusal.ts'
import { readRefusals } from '../read-refusals.ts'
import type { Terminal } from '../terminal.ts'
import { outputOption, wholeNumber } from './output-option.ts'

interface RefusedOptions {
  readonly subscription?: string
  readonly target?: string
  readonly limit: number
  readonly output?: 'json'
}

export function addRefused(deadLetters: Command, terminal: Terminal): void {
  deadLetters
    .command('refused')
    .description('list dead letters that a target (deadLetter.target) refuses for good, the newest last')
    .option('--subscription <id>', 'only those of this subscription')
    .option('--target <target>', 'only those that this target refuses, for example mns://CONNECTION/QUEUE')
    .option('--limit <number>', 'the newest so many', wholeNumber(100_000), 100)
    .addOption(outputOption(['json']))
    .addHelpText(
      'after',
      '\nExample:\n  barnabas dead-letters refused --subscription orders-to-billing' +
        '\n\nThey stand in their dead-letter topic as ever: `barnabas dead-letters show POSITION` shows one.',
    )
    .action((options: RefusedOptions) => list(terminal, options))
}

async function list(terminal: Terminal, options: RefusedOptions): Promise<void> {
  const { subscription, target, limit, output } = options
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    const all = await readRefusals(cluster)
    const selected = all.filter(
      (each) =>
        (subscription === undefined || each.subscription === subscription) &&
        (target === undefined || each.target === target),
    )
    const newest = selected.slice(-limit)
    if (output === 'json') terminal.print(JSON.stringify(newest, null, 2))
    else if (newest.length > 0) terminal.print(refusalTable(newest))
    else terminal.note('no target has refused such a dead letter')
    if (newest.length < selected.length) terminal.note(`only the newest ${limit}; --limit shows more`)
  })
}
