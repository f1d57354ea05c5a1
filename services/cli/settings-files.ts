import { readApiDestinations, readKafkaClusters } from '@barnabas/core'
import type { ApiDestinations, KafkaClusters, SubscriptionProblem } from '@barnabas/core'
import { readSettingsFile } from '@barnabas/runtime'
import { Refusal } from './refusal.ts'
import type { Terminal } from './terminal.ts'

/** What stands in `BARNABAS_DESTINATIONS_FILE`, YAML or JSON; null without one. Throws a `Refusal` that names the file. */
export async function readDestinationsFile(terminal: Terminal, file: string | null): Promise<ApiDestinations | null> {
  if (file === null) return null
  const read = readApiDestinations(await rootOf('BARNABAS_DESTINATIONS_FILE', terminal, file))
  if (read.kind === 'destinations') return read.destinations
  throw refusal('BARNABAS_DESTINATIONS_FILE', file, read.problems)
}

/** The same for `BARNABAS_CLUSTERS_FILE`. */
export async function readClustersFile(terminal: Terminal, file: string | null): Promise<KafkaClusters | null> {
  if (file === null) return null
  const read = readKafkaClusters(await rootOf('BARNABAS_CLUSTERS_FILE', terminal, file))
  if (read.kind === 'clusters') return read.clusters
  throw refusal('BARNABAS_CLUSTERS_FILE', file, read.problems)
}

async function rootOf(variable: string, { cwd }: Terminal, file: string): Promise<unknown> {
  const reading = await readSettingsFile(file, cwd)
  if (reading.kind === 'failed') throw new Refusal(`${variable}: ${reading.message}`)
  return reading.root
}

function refusal(variable: string, file: string, problems: readonly SubscriptionProblem[]): Refusal {
  return new Refusal(`${variable}: ${problems.map(({ message }) => `${file}: ${message}`).join('\n')}`)
}
