import { sayAt } from '@barnabas/core'
import type { StatusRecord } from '@barnabas/core'
import type { Command } from 'commander'
import { readSurroundings, withCluster } from '../cluster.ts'
import { findSubscription } from '../find-subscription.ts'
import { generationOf, knownFacts } from '../known-facts.ts'
import { operatorOf, putOnRecord } from '../operator.ts'
import { Refusal } from '../refusal.ts'
import { afterwards, eventText, resolveBlock } from '../resolve-block.ts'
import { openStore } from '../store.ts'
import type { Store } from '../store.ts'
import type { Terminal } from '../terminal.ts'
import { untilStatus } from '../until-status.ts'
import { eventOption } from './event-option.ts'
import { outputOption } from './output-option.ts'

interface StartOptions {
  readonly event?: string
  readonly output?: 'json'
}

export function addStart(program: Command, terminal: Terminal): void {
  program
    .command('start')
    .description(
      'take a subscription up again: end its pause and its probation, try anew what ended as Start Failed, or attempt again what it is blocked at',
    )
    .argument('<id>', 'of the subscription')
    .addOption(eventOption())
    .addOption(outputOption(['json']))
    .addHelpText(
      'after',
      '\nExample:\n  barnabas start orders-to-billing\n\nSaying it of one that runs changes nothing.',
    )
    .action((id: string, options: StartOptions) => start(terminal, id, options))
}

async function start(terminal: Terminal, id: string, { event, output }: StartOptions): Promise<void> {
  const isJson = output === 'json'
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    const store = await openStore(cluster)
    const generation = generationOf(findSubscription(store, id))
    const before = store.statuses.get(id)
    const known = knownFacts(store, id, generation)
    // One that is paused goes on where it was, be it blocked there.
    if (event !== undefined || (known.paused === null && (before?.blocked.length ?? 0) > 0)) {
      const { block, status } = await resolveBlock(cluster, store, terminal, { id, command: 'start', event })
      if (isJson) return terminal.print(JSON.stringify({ id, started: block, status }, null, 2))
      return terminal.print(`${id}: ${eventText(block)} is attempted again; ${afterwards(status)}`)
    }
    const at = sayAt(Date.now(), generation, known)
    await putOnRecord(cluster, { command: 'start', subscription: id, by: operatorOf(terminal), at })
    const status = await answerOf(store, id, at)
    if (status === null) {
      throw new Refusal(`${id}: no dispatcher answers; one that runs later takes it up by itself`)
    }
    if (isJson) terminal.print(JSON.stringify({ id, status }, null, 2))
    const isBlockedAsBefore = known.paused !== null && status.status === 'Ready'
    if (status.status !== 'Running' && !isBlockedAsBefore)
      throw new Refusal(`${id}: ${status.status}: ${status.reason}`)
    if (!isJson) terminal.print(known.paused === null ? sentenceOf(id, before) : unpausedText(status))
  })
}

/** The first status that names the command and stays; the last one seen when none stays in time, null when nobody heard it. */
async function answerOf(store: Store, id: string, at: string): Promise<StatusRecord | null> {
  let answer: StatusRecord | null = null
  await untilStatus(store, id, (status) => {
    if ((status.started ?? '') < at) return false
    answer = status
    return status.status !== 'Starting' && status.probation === null
  })
  return answer
}

function unpausedText({ id, status, reason }: StatusRecord): string {
  return `${id} ${status}, no longer paused${status === 'Running' ? '' : `: ${reason}`}`
}

function sentenceOf(id: string, before: StatusRecord | null): string {
  if (before?.probation != null) return `${id} Running: its probation because of ${before.probation.cause} is over`
  if (before?.status === 'Running') return `${id} Running, as it was before`
  return `${id} Running`
}
