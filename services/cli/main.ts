import { CommanderError } from 'commander'
import { createProgram } from './program.ts'
import type { ExitStatus } from './refusal.ts'
import { Refusal } from './refusal.ts'
import type { Terminal } from './terminal.ts'
import { processTerminal } from './terminal.ts'

/** Runs the command that the process was called with, and ends the process. */
export async function main(): Promise<void> {
  // Whoever read our output had enough (`barnabas get | head -1`): no reason to complain.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1)
  })
  process.stderr.on('error', () => undefined)
  // Libraries' deprecations are ours to mend, not to be read by people between two lines of output.
  process.removeAllListeners('warning')
  const exitStatus = await run(processTerminal(), process.argv.slice(2))
  // Connections that a dead broker holds open must not keep the prompt away.
  process.stdout.write('', () => process.exit(exitStatus))
}

/** Runs one command and says how it ended; whatever went wrong was printed. */
export async function run(terminal: Terminal, args: readonly string[]): Promise<ExitStatus> {
  try {
    await createProgram(terminal).parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    // Commander has printed what is wrong, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (error instanceof Refusal) {
      terminal.note(`error: ${error.message}`)
      return error.exitStatus
    }
    terminal.note(`error: ${error instanceof Error ? error.message : String(error)}`)
    if (terminal.env['BARNABAS_LOG_LEVEL'] === 'debug' && error instanceof Error) terminal.note(error.stack ?? '')
    else terminal.note('This was not expected; BARNABAS_LOG_LEVEL=debug shows where it happened.')
    return 1
  }
}
