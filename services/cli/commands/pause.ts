import { setTimeout as sleep } from 'node:timers/promises'
import { sayAt } from '@barnabas/core'
import type { StatusRecord } from '@barnabas/core'
import type { Command } from 'commander'
import { readSurroundings, withCluster } from '../cluster.ts'
import { findSubscription } from '../find-subscription.ts'
import { generationOf, knownFacts } from '../known-facts.ts'
import { operatorOf, putOnRecord } from '../operator.ts'
import { Refusal } from '../refusal.ts'
import { openStore } from '../store.ts'
import type { Store } from '../store.ts'
import type { Terminal } from '../terminal.ts'
import { outputOption } from './output-option.ts'

/** How long a dispatcher is waited for. */
const answeredWithinMs = 30_000
const lookEveryMs = 50

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
    const status = await pausedStatus(store, id, at)
    if (status === null) throw new Refusal(`${id}: no dispatcher answers; one that runs later pauses it by itself`)
    if (output === 'json') return terminal.print(JSON.stringify({ id, status }, null, 2))
    if (status.status !== 'Paused') throw new Refusal(`${id}: ${status.status}: somebody has said start since`)
    terminal.print(`${id} Paused${isPaused ? ', as it was before' : ''}: ${status.reason}`)
  })
}

/** The first status that has heard what was said at `at`; null when none comes in time. */
async function pausedStatus({ statuses }: Store, id: string, at: string): Promise<StatusRecord | null> {
  const deadline = Date.now() + answeredWithinMs
  while (Date.now() < deadline) {
    const status = statuses.get(id)
    if (status !== null && [status.paused?.at ?? '', status.started ?? ''].some((time) => time >= at)) return status
    await sleep(lookEveryMs)
  }
  return null
}
