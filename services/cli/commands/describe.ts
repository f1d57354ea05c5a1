import type { Command } from 'commander'
import type { Cluster } from '../cluster.ts'
import { readSurroundings, withCluster } from '../cluster.ts'
import { findSubscription } from '../find-subscription.ts'
import { descriptionJson, descriptionText } from '../format/description.ts'
import type { Description } from '../format/description.ts'
import { groupProgress } from '../group-progress.ts'
import { openStore } from '../store.ts'
import type { Terminal } from '../terminal.ts'
import { outputOption } from './output-option.ts'

export function addDescribe(program: Command, terminal: Terminal): void {
  program
    .command('describe')
    .description('show everything known about one subscription')
    .argument('<id>', 'of the subscription')
    .addOption(outputOption(['json']))
    .addHelpText('after', '\nExample:\n  barnabas describe orders-to-billing')
    .action((id: string, options: { readonly output?: 'json' }) => describe(terminal, id, options.output === 'json'))
}

async function describe(terminal: Terminal, id: string, isJson: boolean): Promise<void> {
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    const description = await descriptionOf(cluster, id)
    terminal.print(isJson ? JSON.stringify(descriptionJson(description), null, 2) : descriptionText(description))
  })
}

async function descriptionOf(cluster: Cluster, id: string): Promise<Description> {
  const shown = findSubscription(await openStore(cluster), id)
  const group = cluster.names.subscriptionGroup(id)
  if (shown.stored.kind === 'invalid')
    return { shown, group, progress: [], held: await heldCount(cluster, id), deadLetterRecords: null }
  const { subscription } = shown.stored
  const [progress, held, deadLetterRecords] = await Promise.all([
    groupProgress(cluster, subscription, shown.status),
    heldCount(cluster, id),
    subscription.deadLetter === null ? null : recordCount(cluster, subscription.deadLetter.topic),
  ])
  return { shown, group, progress, held, deadLetterRecords }
}

/** How many due retries wait in the subscription's held topic: the lag of its group. */
async function heldCount({ kafka, names }: Cluster, id: string): Promise<number> {
  const topic = names.heldTopic(id)
  const offsets = await kafka.admin.offsets([topic])
  if (offsets.length === 0) return 0
  const committed = await kafka.admin.committed(names.heldGroup(id), [topic])
  const from = new Map(committed.map(({ partition, offset }) => [partition, offset]))
  return offsets.reduce((sum, { partition, low, high }) => sum + high - Math.max(from.get(partition) ?? 0, low), 0)
}

async function recordCount({ kafka }: Cluster, topic: string): Promise<number | null> {
  const offsets = await kafka.admin.offsets([topic])
  return offsets.length === 0 ? null : offsets.reduce((sum, { low, high }) => sum + high - low, 0)
}
