import { deleteSubscription } from '@barnabas/registry'
import type { Command } from 'commander'
import type { Cluster } from '../cluster.ts'
import { readSurroundings, withCluster } from '../cluster.ts'
import { findSubscription } from '../find-subscription.ts'
import { operatorOf, putOnRecord } from '../operator.ts'
import { Refusal, usageError } from '../refusal.ts'
import { openStore } from '../store.ts'
import type { Terminal } from '../terminal.ts'
import { outputOption } from './output-option.ts'

interface DeleteOptions {
  readonly yes?: boolean
  readonly output?: 'json'
}

export function addDelete(program: Command, terminal: Terminal): void {
  program
    .command('delete')
    .description('delete a subscription; its parked events become dead letters')
    .argument('<id>', 'of the subscription')
    .option('-y, --yes', 'do not ask')
    .addOption(outputOption(['json']))
    .addHelpText('after', '\nExample:\n  barnabas delete orders-to-billing --yes')
    .action((id: string, options: DeleteOptions) => remove(terminal, id, options))
}

async function remove(terminal: Terminal, id: string, options: DeleteOptions): Promise<void> {
  if (options.yes !== true && !terminal.isInteractive) {
    throw usageError(`nobody can be asked whether to delete ${JSON.stringify(id)}; say --yes`)
  }
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    const store = await openStore(cluster)
    findSubscription(store, id)
    if (options.yes !== true && !(await isConfirmed(terminal, id, cluster))) throw new Refusal('nothing was deleted')
    const { names, kafka } = cluster
    const at = new Date().toISOString()
    await putOnRecord(cluster, { command: 'delete', subscription: id, by: operatorOf(terminal), at })
    const result = await deleteSubscription(id, { registry: store.subscriptions, producer: kafka.producer(), names })
    if (result.kind === 'failed') throw new Refusal(`${id}: ${result.message}`)
    terminal.print(options.output === 'json' ? JSON.stringify({ id, result: 'deleted' }, null, 2) : `${id} deleted`)
  })
}

async function isConfirmed(terminal: Terminal, id: string, { names }: Cluster): Promise<boolean> {
  const consequence = `parked events of it become dead letters in ${names.deadLetter}`
  const answer = await terminal.ask(`Delete subscription ${id}? ${consequence}. [y/N] `)
  return ['y', 'yes'].includes(answer.trim().toLowerCase())
}
