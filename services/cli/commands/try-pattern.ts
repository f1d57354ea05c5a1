import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { decodeEvent, testPattern } from '@barnabas/core'
import type { CloudEvent, PatternFieldResult } from '@barnabas/core'
import type { Command } from 'commander'
import { fileProblem } from '@barnabas/runtime'
import { Refusal, usageError } from '../refusal.ts'
import type { Terminal } from '../terminal.ts'
import { outputOption } from './output-option.ts'

export function addTestPattern(program: Command, terminal: Terminal): void {
  program
    .command('test-pattern')
    .description("say whether an event matches one of EventBridge's event patterns, and which field does not")
    .argument('<pattern>', 'JSON, the name of a file of it, or - for standard input')
    .argument('<event>', 'a CloudEvent in JSON, likewise')
    .addOption(outputOption(['json']))
    .addHelpText(
      'after',
      '\nExample:\n  barnabas test-pattern \'{"type": [{"prefix": "order."}]}\' event.json' +
        '\n\nExit status: 0 it matches, 1 it does not, or one of the two is wrong.',
    )
    .action((pattern: string, event: string, options: { readonly output?: 'json' }) =>
      run(terminal, pattern, event, options.output === 'json'),
    )
}

async function run(terminal: Terminal, pattern: string, event: string, isJson: boolean): Promise<void> {
  if (pattern === '-' && event === '-') throw usageError('only one of the two can be standard input')
  const tested = testPattern(parsed('pattern', await textOf(terminal, pattern)), eventOf(await textOf(terminal, event)))
  if (tested.kind === 'invalid') throw new Refusal(`pattern${tested.message}`)
  const { isMatch, fields } = tested
  const failed = fields.filter(({ passes }) => !passes)
  if (isJson) terminal.print(JSON.stringify({ isMatch, fields }))
  else terminal.print(isMatch ? 'matches' : failed.map(sentence).join('\n'))
  if (!isMatch) throw new Refusal('the event does not match')
}

function sentence({ path, value, conditions }: PatternFieldResult): string {
  const found = value === undefined ? 'is not there' : `is ${JSON.stringify(value)}`
  const shown = found.length > 200 ? `${found.slice(0, 199)}…` : found
  return `${path.join('.')}: ${shown}, which none of ${JSON.stringify(conditions)} lets pass`
}

function eventOf(text: string): CloudEvent {
  const decoded = decodeEvent({ value: Buffer.from(text), headers: {} })
  if (decoded.kind === 'event') return decoded.event
  throw new Refusal(`event: ${decoded.message}`)
}

function parsed(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal(`${what} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What begins with a brace or a bracket is JSON itself. */
async function textOf(terminal: Terminal, argument: string): Promise<string> {
  if (/^\s*[{[]/.test(argument)) return argument
  if (argument === '-') return terminal.readStdin()
  const path = resolve(terminal.cwd, argument)
  return readFile(path, 'utf8').catch((error: unknown) => {
    throw new Refusal(fileProblem(path, error))
  })
}
