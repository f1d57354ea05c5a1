import { writeEventBridge, writeEventGrid } from '@barnabas/core'
import type { KnownKafka } from '@barnabas/core'
import { readClustersFile } from '../settings-files.ts'
import type { Command } from 'commander'
import { readSurroundings, withCluster } from '../cluster.ts'
import { allSubscriptions, findSubscription } from '../find-subscription.ts'
import { subscriptionJson, subscriptionTable, subscriptionYaml } from '../format/subscription.ts'
import type { ShownSubscription } from '../format/subscription.ts'
import { Refusal, usageError } from '../refusal.ts'
import { openStore } from '../store.ts'
import type { Terminal } from '../terminal.ts'
import { watchSubscriptions } from '../watch-subscriptions.ts'
import { outputOption } from './output-option.ts'

type Notation = 'event-grid' | 'eventbridge'
type Format = 'table' | 'yaml' | 'json'

interface GetOptions {
  readonly output: Format | Notation
  readonly watch?: boolean
}

export function addGet(program: Command, terminal: Terminal): void {
  program
    .command('get')
    .description('show subscriptions and their status')
    .argument('[id]', 'of one subscription; all without it')
    .addOption(outputOption(['table', 'yaml', 'json', 'event-grid', 'eventbridge']).default('table'))
    .option('-w, --watch', 'go on and print what changes, until Ctrl-C')
    .addHelpText(
      'after',
      '\nExample:\n  barnabas get orders-to-billing -o yaml > orders-to-billing.yaml\n\n' +
        '-o yaml is what was written, and its revision: `barnabas apply` takes it again.\n' +
        '-o json is what is stored, with its status: an object with ID, a list without.\n' +
        "-o event-grid is Azure Event Grid's JSON, secrets masked; what it has no word for stands beside `properties`.\n" +
        "-o eventbridge is Alibaba EventBridge's JSON, secrets masked; what it has no word for stands beside its fields.",
    )
    .action((id: string | undefined, options: GetOptions) => get(terminal, id, options))
}

async function get(terminal: Terminal, id: string | undefined, options: GetOptions): Promise<void> {
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    if (options.watch === true) {
      if (isNotation(options.output)) throw usageError('--watch follows every format but event-grid and eventbridge')
      await watchSubscriptions(terminal, cluster, id, options.output)
      return
    }
    const store = await openStore(cluster)
    const { output } = options
    const clusters =
      output === 'eventbridge' ? await readClustersFile(terminal, surroundings.config.clustersFile) : null
    const known = { brokers: surroundings.brokers, clusters }
    const write = (found: ShownSubscription, notation: Notation) => inNotation(terminal, found, notation, known)
    if (id !== undefined) {
      const found = findSubscription(store, id)
      terminal.print(isNotation(output) ? json(write(found, output)) : one(found, output))
      return
    }
    const subscriptions = allSubscriptions(store)
    if (isNotation(output)) {
      for (const { id: each, stored } of subscriptions) {
        if (stored.kind === 'invalid') terminal.note(`note: ${each} does not validate and is left out`)
      }
      const valid = subscriptions.filter(({ stored }) => stored.kind === 'valid')
      terminal.print(json(valid.map((each) => write(each, output))))
      return
    }
    if (subscriptions.length === 0 && output !== 'json') {
      terminal.note('no subscriptions; make one with `barnabas apply -f FILE`')
      return
    }
    terminal.print(all(subscriptions, output))
  })
}

function isNotation(output: GetOptions['output']): output is Notation {
  return output === 'event-grid' || output === 'eventbridge'
}

function one(subscription: ShownSubscription, output: Format): string {
  return output === 'json' ? json(subscriptionJson(subscription)) : all([subscription], output)
}

function all(subscriptions: readonly ShownSubscription[], output: Format): string {
  switch (output) {
    case 'table':
      return subscriptionTable(subscriptions, Date.now())
    case 'yaml':
      return subscriptions.map(subscriptionYaml).join('\n---\n')
    case 'json':
      return json(subscriptions.map(subscriptionJson))
    default:
      return output satisfies never
  }
}

/** In another product's notation; what a reader has to know goes to standard error. */
function inNotation(
  terminal: Terminal,
  { id, stored }: ShownSubscription,
  notation: Notation,
  known: KnownKafka,
): unknown {
  if (stored.kind === 'invalid') {
    throw new Refusal(`${id} does not validate: ${stored.problems.map(({ message }) => message).join('\n')}`)
  }
  const { revision } = stored.life
  const { document, notes } =
    notation === 'event-grid' ? writeEventGrid(stored, revision) : writeEventBridge(stored, revision, known)
  for (const note of notes) terminal.note(`note: ${id}: ${note}`)
  return document
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}
