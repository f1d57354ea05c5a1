import type { Command } from 'commander'
import { readSurroundings, withCluster } from '../cluster.ts'
import { allSubscriptions, findSubscription } from '../find-subscription.ts'
import { subscriptionJson, subscriptionTable, subscriptionYaml } from '../format/subscription.ts'
import type { ShownSubscription } from '../format/subscription.ts'
import { openStore } from '../store.ts'
import type { Terminal } from '../terminal.ts'
import { watchSubscriptions } from '../watch-subscriptions.ts'
import { outputOption } from './output-option.ts'

interface GetOptions {
  readonly output: 'table' | 'yaml' | 'json'
  readonly watch?: boolean
}

export function addGet(program: Command, terminal: Terminal): void {
  program
    .command('get')
    .description('show subscriptions and their status')
    .argument('[id]', 'of one subscription; all without it')
    .addOption(outputOption(['table', 'yaml', 'json'], ['event-grid', 'eventbridge']).default('table'))
    .option('-w, --watch', 'go on and print what changes, until Ctrl-C')
    .addHelpText(
      'after',
      '\nExample:\n  barnabas get orders-to-billing -o yaml > orders-to-billing.yaml\n\n' +
        '-o yaml is what was written, and its revision: `barnabas apply` takes it again.\n' +
        '-o json is what is stored, with its status: an object with ID, a list without.',
    )
    .action((id: string | undefined, options: GetOptions) => get(terminal, id, options))
}

async function get(terminal: Terminal, id: string | undefined, options: GetOptions): Promise<void> {
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    if (options.watch === true) {
      await watchSubscriptions(terminal, cluster, id, options.output)
      return
    }
    const store = await openStore(cluster)
    if (id !== undefined) {
      terminal.print(one(findSubscription(store, id), options.output))
      return
    }
    const subscriptions = allSubscriptions(store)
    if (subscriptions.length === 0 && options.output !== 'json') {
      terminal.note('no subscriptions; make one with `barnabas apply -f FILE`')
      return
    }
    terminal.print(all(subscriptions, options.output))
  })
}

function one(subscription: ShownSubscription, output: GetOptions['output']): string {
  return output === 'json' ? json(subscriptionJson(subscription)) : all([subscription], output)
}

function all(subscriptions: readonly ShownSubscription[], output: GetOptions['output']): string {
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

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}
