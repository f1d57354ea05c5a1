import type { Command } from 'commander'
import { readSurroundings, withCluster } from '../cluster.ts'
import { findSubscription } from '../find-subscription.ts'
import { afterwards, eventText, resolveBlock } from '../resolve-block.ts'
import { openStore } from '../store.ts'
import type { Terminal } from '../terminal.ts'
import { eventOption } from './event-option.ts'
import { outputOption } from './output-option.ts'

interface SkipOptions {
  readonly event?: string
  readonly output?: 'json'
}

export function addSkip(program: Command, terminal: Terminal): void {
  program
    .command('skip')
    .description(
      'let a blocked subscription go on without the event that it is blocked at, which becomes a dead letter',
    )
    .argument('<id>', 'of the subscription')
    .addOption(eventOption())
    .addOption(outputOption(['json']))
    .addHelpText(
      'after',
      '\nExample:\n  barnabas skip orders-to-billing --event orders/3/42' +
        '\n\nIts reason is SkippedByOperator. With `deadLetter: none` it goes to the default dead-letter topic: nothing is lost.',
    )
    .action((id: string, options: SkipOptions) => skip(terminal, id, options))
}

async function skip(terminal: Terminal, id: string, { event, output }: SkipOptions): Promise<void> {
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    const store = await openStore(cluster)
    findSubscription(store, id)
    const { block, status } = await resolveBlock(cluster, store, terminal, { id, command: 'skip', event })
    if (output === 'json') return terminal.print(JSON.stringify({ id, skipped: block, status }, null, 2))
    terminal.print(`${id}: skipped ${eventText(block)}, now a dead letter; ${afterwards(status)}`)
  })
}
