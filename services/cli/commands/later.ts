import type { Command } from 'commander'
import { notAvailable } from '../refusal.ts'

/** Commands of later versions, so that they are refused by name instead of as unknown. */
export function addLaterCommands(program: Command): void {
  for (const name of ['pause']) addLater(program, name, `barnabas ${name}`)
}

function addLater(parent: Command, name: string, shown: string): void {
  parent
    .command(name, { hidden: true })
    .helpOption(false)
    .allowUnknownOption()
    .argument('[anything...]')
    .action(() => {
      throw notAvailable(shown)
    })
}
