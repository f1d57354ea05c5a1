import { redrivesMaxDefault } from '@barnabas/core'
import type { RedriveOptions } from '@barnabas/core'
import type { Transactor } from '@barnabas/kafka'
import { boundHeap } from '@barnabas/runtime'
import type { Command } from 'commander'
import type { Cluster } from '../cluster.ts'
import { readSurroundings, withCluster } from '../cluster.ts'
import { addSelectionOptions, readSelection, selectionText } from '../dead-letter-selection.ts'
import type { SelectionOptions } from '../dead-letter-selection.ts'
import { everySecond } from '../every-second.ts'
import { findSubscription } from '../find-subscription.ts'
import { redriveJson, redriveProgress, redriveText } from '../format/redrive.ts'
import { operatorOf, putOnRecord } from '../operator.ts'
import { inputsOf } from '../read-dead-letters.ts'
import { readRedriveMarks } from '../redrive/read-marks.ts'
import { redrive } from '../redrive/redrive.ts'
import { redriveTopics } from '../redrive/topics.ts'
import { Refusal } from '../refusal.ts'
import { openStore } from '../store.ts'
import type { Store } from '../store.ts'
import { presentDeadLetterTopics } from '../stored-dead-letters.ts'
import type { Terminal } from '../terminal.ts'
import { outputOption, wholeNumber } from './output-option.ts'

interface RedriveCommandOptions extends SelectionOptions {
  readonly to?: string
  readonly rate?: number
  readonly maxRedrives: number
  readonly dryRun?: boolean
  readonly output?: 'json'
}

/** What a killed redrive keeps the retriers from reading `barnabas.retry.now` for. */
const transactionTimeoutMs = 10_000

export function addRedrive(deadLetters: Command, terminal: Terminal): void {
  addSelectionOptions(
    deadLetters
      .command('redrive')
      .description('send dead letters to their subscriptions again: all that were not sent yet, or those selected'),
  )
    .option('--to <id>', 'to this subscription instead, also for one that is gone or was made anew')
    .option('--rate <number>', 'at most so many a second', wholeNumber(1_000_000))
    .option('--max-redrives <number>', 'leave what was sent again so often', wholeNumber(1_000_000), redrivesMaxDefault)
    .option('--dry-run', 'only say what would be sent')
    .addOption(outputOption(['json']))
    .addHelpText(
      'after',
      '\nExample:\n  barnabas dead-letters redrive --subscription orders-to-billing --reason MaxDeliveryAttemptsExceeded' +
        '\n\nWhat was sent once is not sent a second time, however often this is said and whatever interrupts it.' +
        '\nExit status 1 when something selected was left: its subscription is gone, it was sent too often …',
    )
    .action((options: RedriveCommandOptions) => redriveSelected(terminal, options))
}

async function redriveSelected(terminal: Terminal, options: RedriveCommandOptions): Promise<void> {
  boundHeap()
  const selection = readSelection(options, Date.now())
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    const { kafka } = cluster
    const store = await openStore(cluster)
    const topics = await presentDeadLetterTopics(cluster, store, options.topic)
    const to = await redriveTopics(cluster, topics)
    const recipientOf = recipients(store, options.to)
    const topicIds = await kafka.admin.topicIds(topics)
    // Read before anything is sent: what fails again becomes a dead letter behind these ends.
    const partitions = await kafka.admin.offsets(topics)
    const by = operatorOf(terminal)
    const record = (sent: number | null) =>
      putOnRecord(cluster, {
        command: 'redrive',
        subscription: options.subscription ?? null,
        selection: { ...selectionText(options), ...(options.to === undefined ? {} : { to: options.to }) },
        sent,
        by,
        at: new Date().toISOString(),
      })
    const isDryRun = options.dryRun === true
    if (!isDryRun) await record(null)
    const transactor = isDryRun ? null : await startTransactor(cluster)
    // Once nobody else is sending, so that nothing is missed.
    const marks = await readRedriveMarks(cluster, topicIds)
    let sent = 0
    try {
      const startedAt = Date.now()
      const progress = everySecond((line: string) => terminal.note(line))
      const tally = await redrive({
        cluster,
        partitions,
        topicIds,
        selection,
        inputOf: inputsOf(store),
        marks,
        transactor,
        plan: { recipientOf, redrivesMax: options.maxRedrives, to: to.tier },
        recordBytesMax: to.recordBytesMax,
        marksKeptMs: to.marksKeptMs,
        perSecond: options.rate ?? null,
        by,
        onProgress(now) {
          sent = now.sent
          progress(redriveProgress(now, isDryRun, Date.now() - startedAt))
        },
      })
      const elapsedMs = Date.now() - startedAt
      if (options.output === 'json') terminal.print(redriveJson(tally, isDryRun, elapsedMs))
      else terminal.print(redriveText(tally, isDryRun, elapsedMs))
      if (tally.left.size > 0)
        throw new Refusal('not all that was selected can be sent again; what was left stays where it is')
    } finally {
      if (!isDryRun) await record(sent)
      await transactor?.close()
    }
  })
}

async function startTransactor({ kafka, names }: Cluster): Promise<Transactor> {
  const transactor = kafka.transactor({ transactionalId: names.redriver, timeoutMs: transactionTimeoutMs })
  await transactor.start()
  return transactor
}

/** The present life of `to`, or the one that the dead letter names, if that still goes on. */
function recipients(store: Store, to: string | undefined): RedriveOptions['recipientOf'] {
  if (to !== undefined) findSubscription(store, to)
  return (id, generation) => {
    const entry = store.subscriptions.get(to ?? id)
    if (entry === undefined) return null
    const present = entry.kind === 'valid' ? entry.subscription.generation : entry.generation
    if (to !== undefined) return { id: to, generation: present }
    // A record that somebody wrote by hand names no life (0): whose events wait for it is not known.
    return present === generation || present === 0 ? { id, generation } : null
  }
}
