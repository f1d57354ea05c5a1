import { boundHeap } from '@barnabas/runtime'
import type { Command } from 'commander'
import { readSurroundings, withCluster } from '../cluster.ts'
import { addSelectionOptions, isSelected, noneText, readSelection } from '../dead-letter-selection.ts'
import type { SelectionOptions } from '../dead-letter-selection.ts'
import { everySecond } from '../every-second.ts'
import { deadLetterJson } from '../format/dead-letter.ts'
import { grouped } from '../format/sent.ts'
import { inputsOf } from '../read-dead-letters.ts'
import { openStore } from '../store.ts'
import { presentDeadLetterTopics, storedDeadLetters } from '../stored-dead-letters.ts'
import type { Terminal } from '../terminal.ts'

export function addExport(deadLetters: Command, terminal: Terminal): void {
  addSelectionOptions(
    deadLetters
      .command('export')
      .description('write everything that dead letters carry to standard output, one line of JSON each'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  barnabas dead-letters export --subscription orders-to-billing > dead-letters.jsonl' +
        '\n\nA line is what `show -o json` prints. Ends at what is there when it begins; the records stay in Kafka.',
    )
    .action((options: SelectionOptions) => exportAll(terminal, options))
}

async function exportAll(terminal: Terminal, options: SelectionOptions): Promise<void> {
  boundHeap()
  const selection = readSelection(options, Date.now())
  const surroundings = await readSurroundings(terminal)
  await withCluster(surroundings, async (cluster) => {
    const store = await openStore(cluster)
    const topics = await presentDeadLetterTopics(cluster, store, options.topic)
    const partitions = await cluster.kafka.admin.offsets(topics)
    const ofRecords = partitions.reduce((sum, { low, high }) => sum + high - low, 0)
    let exported = 0
    const progress = everySecond((readRecords: number) => {
      terminal.note(`exported ${grouped(exported)}, read ${grouped(readRecords)} of ${grouped(ofRecords)}`)
    })
    for await (const { letters, readRecords } of storedDeadLetters(cluster, partitions, inputsOf(store))) {
      for (const letter of letters) {
        if (!isSelected(letter, selection)) continue
        terminal.print(JSON.stringify(deadLetterJson(letter)))
        exported += 1
      }
      // Whoever reads may be slower than Kafka.
      await terminal.printed()
      progress(readRecords)
    }
    terminal.note(exported === 0 ? noneText(options, topics) : `exported ${grouped(exported)} dead letters`)
  })
}
