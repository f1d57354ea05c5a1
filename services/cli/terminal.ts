import { createInterface } from 'node:readline/promises'
import { text } from 'node:stream/consumers'
import { printable } from './format/printable.ts'

/** What a command may do to the world outside Kafka. Everything goes through here, so that tests can look on. */
export interface Terminal {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Where the person stands; relative file names begin here. */
  readonly cwd: string
  /** Whether a question can be asked and answered. */
  readonly isInteractive: boolean
  /** One line (or several) of what was asked for, on standard output. */
  print(line: string): void
  /** Resolves when whoever reads the output has taken what was printed, but for little. */
  printed(): Promise<void>
  /** Warnings, notes and progress, on standard error. */
  note(line: string): void
  readStdin(): Promise<string>
  ask(question: string): Promise<string>
}

export function processTerminal(): Terminal {
  return {
    env: process.env,
    cwd: process.cwd(),
    isInteractive: process.stdin.isTTY && process.stderr.isTTY,
    // Escaped JSON is the same JSON; YAML was written so that it bears it too.
    print: (line) => void process.stdout.write(`${printable(line)}\n`),
    printed: () =>
      new Promise((resolve) => {
        if (process.stdout.writableNeedDrain) process.stdout.once('drain', resolve)
        else resolve()
      }),
    note: (line) => void process.stderr.write(`${printable(line)}\n`),
    readStdin: () => text(process.stdin),
    async ask(question) {
      // On standard error, so that the question is seen when the output goes elsewhere.
      const questioner = createInterface({ input: process.stdin, output: process.stderr })
      try {
        return await questioner.question(question)
      } catch {
        // Ctrl-D and Ctrl-C end the question without an answer.
        process.stderr.write('\n')
        return ''
      } finally {
        questioner.close()
      }
    },
  }
}
