import type { Cluster } from './cluster.ts'
import { allSubscriptions, findSubscription } from './find-subscription.ts'
import { subscriptionColumns, subscriptionJson, subscriptionYaml } from './format/subscription.ts'
import type { ShownSubscription } from './format/subscription.ts'
import { columnsOf, tableLine } from './format/table.ts'
import { Refusal } from './refusal.ts'
import { openStore } from './store.ts'
import type { Store } from './store.ts'
import type { Terminal } from './terminal.ts'

/**
 * Prints every subscription (or the one) and then each one again when something in it changes, until the process is
 * told to stop. JSON comes as one object per line, YAML as one document each, so that a pipe can follow.
 */
export async function watchSubscriptions(
  terminal: Terminal,
  cluster: Cluster,
  id: string | undefined,
  output: 'table' | 'yaml' | 'json',
): Promise<never> {
  const printed = new Map<string, string>()
  const format = formatOf(output)
  let store: Store | null = null

  function look(changedId: string): void {
    if (store === null || (id !== undefined && changedId !== id)) return
    const found = allSubscriptions(store).find((each) => each.id === changedId)
    if (found === undefined) {
      if (printed.delete(changedId)) terminal.note(`${changedId} deleted`)
      return
    }
    // The age changes all the time; that alone is no news.
    const identity = JSON.stringify(subscriptionJson(found))
    if (printed.get(changedId) === identity) return
    printed.set(changedId, identity)
    terminal.print(format.one(found))
  }

  const opened = await openStore(cluster, {
    onSubscription: (change) => look(change.id),
    onStatus: look,
    onTrouble: (trouble) => terminal.note(trouble === null ? 'going on' : `waiting: ${trouble}`),
  })
  if (!opened.isThere) throw new Refusal('Barnabas never ran on this Kafka: there is nothing to watch yet')
  if (id !== undefined) findSubscription(opened, id)
  store = opened
  const first = allSubscriptions(store).filter((each) => id === undefined || each.id === id)
  format.begin(first).forEach((line) => terminal.print(line))
  for (const { id: known } of first) look(known)
  return await new Promise<never>(() => {
    // Readers keep the process alive; Ctrl-C ends it.
  })
}

interface WatchFormat {
  begin(subscriptions: readonly ShownSubscription[]): readonly string[]
  one(subscription: ShownSubscription): string
}

function formatOf(output: 'table' | 'yaml' | 'json'): WatchFormat {
  if (output === 'json') return { begin: () => [], one: (each) => JSON.stringify(subscriptionJson(each)) }
  if (output === 'yaml') return { begin: () => [], one: (each) => `${subscriptionYaml(each)}\n---` }
  let widths: readonly number[] = []
  let columns = subscriptionColumns([])
  return {
    begin(subscriptions) {
      columns = subscriptionColumns(subscriptions)
      widths = columnsOf([columns.header, ...subscriptions.map((each) => columns.row(each, Date.now()))])
      return [tableLine(columns.header, widths)]
    },
    one: (each) => tableLine(columns.row(each, Date.now()), widths),
  }
}
