import type { Command } from 'commander'
import { readSurroundings, withCluster } from '../cluster.ts'
import { readDeadLetter } from '../dead-letter-record.ts'
import { addSelectionOptions, noneText, readSelection } from '../dead-letter-selection.ts'
import type { SelectionOptions } from '../dead-letter-selection.ts'
import { everySecond } from '../every-second.ts'
import { deadLetterJson, deadLetterSummaryJson, deadLetterTable, deadLetterText } from '../format/dead-letter.ts'
import { grouped } from '../format/sent.ts'
import { deadLetterTopics, inputsOf, readDeadLetters } from '../read-dead-letters.ts'
import { parsePosition, readRecord } from '../read-record.ts'
import { Refusal } from '../refusal.ts'
import { openStore } from '../store.ts'
import type { Terminal } from '../terminal.ts'
import { addExport } from './dead-letters-export.ts'
import { addRefused } from './dead-letters-refused.ts'
import { outputOption, wholeNumber } from './output-option.ts'
import { addRedrive } from './redrive.ts'

interface ListOptions extends SelectionOptions {
  readonly limit: number
  readonly output?: 'json'
}

export function addDeadLetters(program: Command, terminal: Terminal): void {
  const deadLetters = program
    .command('dead-letters')
    .description('look at events that will not be attempted again, and send them again')
    .helpCommand(false)
    .addHelpText('after', '\nExample:\n  barnabas dead-letters list --subscription orders-to-billing')
  addSelectionOptions(deadLetters.command('list').description('list dead letters, the newest last'))
    .option('--limit <number>', 'the newest so many', wholeNumber(100_000), 100)
    .addOption(outputOption(['json']))
    .addHelpText('after', '\nExample:\n  barnabas dead-letters list --subscription orders-to-billing --since 2h')
    .action((options: ListOptions) => list(terminal, options))
  deadLetters
    .command('show')
    .description('show everything that one dead letter carries')
    .argument('<position>', 'TOPIC/PARTITION/OFFSET, as list prints it')
    .addOption(outputOption(['json']))
    .addHelpText('after', '\nExample:\n  barnabas dead-letters show barnabas.dead-letter/3/17')
    .action((position: string, options: { readonly output?: 'json' }) => show(terminal, position, options))
  addRedrive(deadLetters, terminal)
  addExport(deadLetters, terminal)
  addRefused(deadLetters, terminal)
}

async function list(terminal: Terminal, options: ListOptions): Promise<void> {
  const { topic, limit } = options
  const selection = readSelection(options, Date.now())
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    if (topic !== undefined && !(await cluster.kafka.admin.topics()).has(topic)) {
      throw new Refusal(`topic ${topic} does not exist`)
    }
    const store = await openStore(cluster)
    const topics = topic === undefined ? deadLetterTopics(cluster, store) : [topic]
    const progress = everySecond((readRecords: number, ofRecords: number) => {
      terminal.note(`read ${grouped(readRecords)} of ${grouped(ofRecords)}`)
    })
    const { letters, isCut } = await readDeadLetters(
      cluster,
      { topics, selection, limit, inputOf: inputsOf(store) },
      progress,
    )
    if (options.output === 'json') terminal.print(JSON.stringify(letters.map(deadLetterSummaryJson), null, 2))
    else if (letters.length > 0) terminal.print(deadLetterTable(letters))
    else terminal.note(noneText(options, topics))
    if (isCut) terminal.note(`only the newest ${limit}; --limit shows more`)
  })
}

async function show(terminal: Terminal, text: string, options: { readonly output?: 'json' }): Promise<void> {
  const position = parsePosition(text)
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    const [store, record] = await Promise.all([openStore(cluster), readRecord(cluster, position)])
    const letter = readDeadLetter(record, inputsOf(store))
    if (letter === null)
      throw new Refusal(`the record at ${text} is no dead letter: it has no barnabas-dead-letter-reason`)
    terminal.print(options.output === 'json' ? JSON.stringify(deadLetterJson(letter), null, 2) : deadLetterText(letter))
  })
}
