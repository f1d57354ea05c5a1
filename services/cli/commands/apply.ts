import type { Command } from 'commander'
import { applyAll } from '../apply-all.ts'
import type { Applied } from '../apply-all.ts'
import { addressGuard } from '@barnabas/webhook'
import { readSurroundings, withCluster } from '../cluster.ts'
import type { Surroundings } from '../cluster.ts'
import { readClustersFile, readDestinationsFile } from '../settings-files.ts'
import { inputNote } from '../format/input-note.ts'
import { readSubscriptions, readTexts } from '../read-subscriptions.ts'
import { operatorOf } from '../operator.ts'
import { Refusal } from '../refusal.ts'
import { createdNote } from '../source-topics.ts'
import type { Terminal } from '../terminal.ts'
import { reachedProblem, waitForStatuses } from '../wait-for-status.ts'
import type { Reached } from '../wait-for-status.ts'
import { outputOption } from './output-option.ts'

interface ApplyCommandOptions {
  readonly file: readonly string[]
  readonly dryRun?: boolean
  readonly wait: boolean
  readonly force?: boolean
  readonly output?: 'json'
  readonly id?: string
  readonly topic?: readonly string[]
  readonly paused?: boolean
}

/** So long a dispatcher has to take up what was applied. */
const statusWithinMs = 30_000

export function addApply(program: Command, terminal: Terminal): void {
  program
    .command('apply')
    .description('create or change subscriptions')
    .requiredOption('-f, --file <file...>', 'YAML or JSON, several documents or lists too; - reads standard input')
    .option('--dry-run', 'check everything and say what would happen, but write nothing')
    .option('--no-wait', 'do not wait for the status that the subscriptions reach')
    .option('--force', 'overwrite although the file was taken from another revision')
    .option('--id <id>', "the id, where the file has none, such as Event Grid's JSON; for one subscription")
    .option('--paused', 'create them paused: nothing is attempted until `barnabas start` is said')
    .option('--topic <topic...>', 'the source topics, where the file has none')
    .addOption(outputOption(['json']))
    .addHelpText(
      'after',
      '\nExample:\n  barnabas apply -f orders-to-billing.yaml\n\nA subscription needs no more than:\n  id: orders-to-billing\n  topics: [orders]\n  sink: https://billing.example.com/hook\n\nAn event subscription of Azure Event Grid, in its JSON:\n  barnabas apply -f event-subscription.json --id orders-to-billing --topic orders\n\nAn event stream of Alibaba EventBridge, in the JSON of its CreateEventStreaming:\n  barnabas apply -f event-stream.json',
    )
    .action((options: ApplyCommandOptions) => apply(terminal, options))
}

async function apply(terminal: Terminal, options: ApplyCommandOptions): Promise<void> {
  const isJson = options.output === 'json'
  const print = isJson ? (line: string) => terminal.note(line) : (line: string) => terminal.print(line)
  const surroundings = await readSurroundings(terminal)
  const { texts, problems } = await readTexts(terminal, options.file)
  const { prefix, timeScale, eventGrid } = surroundings.config
  const supplied = { id: options.id, topics: options.topic }
  const checkSink = sinkCheckOf(surroundings)
  const read = readSubscriptions(texts, {
    prefix,
    timeScale,
    eventGrid,
    brokers: surroundings.brokers,
    clusters: await readClustersFile(terminal, surroundings.config.clustersFile),
    destinations: await readDestinationsFile(terminal, surroundings.config.destinationsFile),
    checkSink,
    supplied,
  })
  const all = [...problems, ...read.problems]
  if (all.length > 0) throw new Refusal([...all, 'Nothing was applied.'].join('\n'))

  await withCluster(surroundings, async (cluster) => {
    const { force = false, dryRun = false } = options
    const pausedBy = options.paused === true ? operatorOf(terminal) : undefined
    const { applied, createdTopics, store } = await applyAll(cluster, read.subscriptions, { force, dryRun, pausedBy })
    for (const topic of createdTopics) {
      print(dryRun ? `topic ${topic} would be created` : createdNote(topic, cluster))
    }
    for (const { id, kind, warnings } of applied) {
      if (!isJson) terminal.print(`${id} ${kind}${dryRun ? ' (dry run)' : ''}`)
      for (const warning of warnings) terminal.note(`warning: ${id}: ${warning}`)
      const own =
        kind === 'unchanged' ? undefined : read.subscriptions.find(({ subscription }) => subscription.id === id)
      const note = own === undefined ? null : inputNote(own.subscription)
      if (note !== null) terminal.note(`note: ${note}`)
    }
    const waits = options.wait && !dryRun
    const reached = waits ? await waitForStatuses(applied, store, createdTopics.length > 0, statusWithinMs) : []
    if (isJson) terminal.print(JSON.stringify(asJson(applied, reached, dryRun), null, 2))
    else for (const each of reached) if (each.status !== null) terminal.print(reachedLine(each))
    const failed = reached.map(reachedProblem).filter((problem) => problem !== null)
    if (failed.length > 0) throw new Refusal(failed.join('\n'))
  })
}

function sinkCheckOf({ allowedNetworks }: Surroundings) {
  const result = addressGuard(allowedNetworks)
  if (result.kind === 'invalid') throw new Refusal(result.message)
  return (url: string) => result.guard.checkSink(url)
}

function reachedLine({ id, status }: Reached): string {
  if (status === null) return ''
  return status.reason === '' ? `${id} ${status.status}` : `${id} ${status.status}: ${status.reason}`
}

function asJson(applied: readonly Applied[], reached: readonly Reached[], dryRun: boolean): unknown {
  return applied.map(({ id, kind, life, warnings }) => {
    const status = reached.find((each) => each.id === id)?.status
    return {
      id,
      result: kind,
      ...(dryRun ? { dryRun } : {}),
      generation: life.generation,
      revision: life.revision,
      warnings,
      ...(status === undefined ? {} : { status }),
    }
  })
}
