import { sayAt } from '@barnabas/core'
import type { Command } from 'commander'
import { readSurroundings, withCluster } from '../cluster.ts'
import { findSubscription } from '../find-subscription.ts'
import { generationOf, knownFacts } from '../known-facts.ts'
import { operatorOf, putOnRecord } from '../operator.ts'
import { Refusal } from '../refusal.ts'
import { openStore } from '../store.ts'
import type { Terminal } from '../terminal.ts'
import { untilStatus } from '../until-status.ts'
import { outputOption } from './output-option.ts'

interface PauseOptions {
  readonly output?: 'json'
}

export function addPause(program: Command, terminal: Terminal): void {
  program
    .command('pause')
    .description('attempt nothing of a subscription until `barnabas start` is said; it keeps its place')
    .argument('<id>', 'of the subscription')
    .addOption(outputOption(['json']))
    .addHelpText(
      'after',
      '\nExample:\n  barnabas pause orders-to-billing\n\nAttempts under way are finished. Saying it of one that is paused changes nothing.',
    )
    .action((id: string, options: PauseOptions) => pause(terminal, id, options))
}

async function pause(terminal: Terminal, id: string, { output }: PauseOptions): Promise<void> {
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    const store = await openStore(cluster)
    const generation = generationOf(findSubscription(store, id))
    const known = knownFacts(store, id, generation)
    const isPaused = known.paused !== null && store.statuses.get(id)?.status === 'Paused'
    const at = isPaused ? '' : sayAt(Date.now(), generation, known)
    if (!isPaused) {
      const command = { command: 'pause', subscription: id, by: operatorOf(terminal), at } as const
      await putOnRecord(cluster, generation === 0 ? command : { ...command, generation })
    }
    // The first that has heard it, be it that a start was said since.
    const status = await untilStatus(store, id, ({ paused, started }) =>
      [paused?.at ?? '', started ?? ''].some((time) => time >= at),
    )
    if (status === null) throw new Refusal(`${id}: no dispatcher answers; one that runs later pauses it by itself`)
    if (output === 'json') return terminal.print(JSON.stringify({ id, status }, null, 2))
    if (status.status !== 'Paused') throw new Refusal(`${id}: ${status.status}: somebody has said start since`)
    terminal.print(`${id} Paused${isPaused ? ', as it was before' : ''}: ${status.reason}`)
  })
}
