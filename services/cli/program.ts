import { Command } from 'commander'
import { addApply } from './commands/apply.ts'
import { addDeadLetters } from './commands/dead-letters.ts'
import { addDelete } from './commands/delete.ts'
import { addDescribe } from './commands/describe.ts'
import { addGet } from './commands/get.ts'
import { addPause } from './commands/pause.ts'
import { addSend } from './commands/send.ts'
import { addSkip } from './commands/skip.ts'
import { addStart } from './commands/start.ts'
import { addTestPattern } from './commands/try-pattern.ts'
import packageJson from './package.json' with { type: 'json' }
import type { Terminal } from './terminal.ts'

/** The command line: one file per command under `commands/`, put together here. Nothing ends the process. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('barnabas')
    .description('Deliver CloudEvents from Kafka to webhooks: subscriptions, their status, events and dead letters.')
    .version(packageJson.version, '-V, --version', 'print the version')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => terminal.print(text.replace(/\n$/, '')),
      writeErr: (text) => terminal.note(text.replace(/\n$/, '')),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .addHelpText(
      'after',
      '\nExample:\n  barnabas apply -f orders-to-billing.yaml\n  barnabas send orders --data \'{"amount": 12}\'\n  barnabas get' +
        '\n\nKafka is the one that KAFKA_BROKERS names, else the one that `pnpm start` runs.' +
        '\nExit status: 0 done, 1 refused or failed, 2 the command was wrong.',
    )
  addApply(program, terminal)
  addGet(program, terminal)
  addDescribe(program, terminal)
  addDelete(program, terminal)
  addStart(program, terminal)
  addPause(program, terminal)
  addSkip(program, terminal)
  addSend(program, terminal)
  addDeadLetters(program, terminal)
  addTestPattern(program, terminal)
  return program
}
