import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readClustersFile, readDestinationsFile } from './settings-files.ts'
import type { Terminal } from './terminal.ts'

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'barnabas-destinations-'))
})
afterAll(() => rm(cwd, { recursive: true, force: true }))

async function readText(text: string) {
  await writeFile(join(cwd, 'destinations.yaml'), text)
  return readDestinationsFile({ cwd } as Terminal, 'destinations.yaml')
}

test('YAML and JSON, beside where the command runs', async () => {
  const expected = new Map([['billing-api', { endpoint: 'https://example.com/' }]])
  expect(await readText('billing-api:\n  endpoint: https://example.com/\n')).toEqual(expected)
  expect(await readText('{"billing-api": {"endpoint": "https://example.com/"}}')).toEqual(expected)
  expect(await readDestinationsFile({ cwd } as Terminal, null)).toBe(null)
})

test.each([
  ['', /^BARNABAS_DESTINATIONS_FILE: destinations\.yaml: destinations: null is not a mapping/],
  ['{"hunter2', /^BARNABAS_DESTINATIONS_FILE: destinations\.yaml is neither YAML nor JSON$/],
  ['a: [', /is neither YAML nor JSON$/],
  ['ab: { endpoint: 7 }', /^BARNABAS_DESTINATIONS_FILE: destinations\.yaml: ab\.endpoint: 7 is not text/],
])('%j is refused, and what stands in it is not shown', async (text, message) => {
  const refusal = await readText(text).then(String, (error: unknown) => (error instanceof Error ? error.message : ''))
  expect(refusal).toMatch(message)
  expect(refusal).not.toContain('hunter2')
})

test('a file that is not there is named', async () => {
  await expect(readDestinationsFile({ cwd } as Terminal, 'gone.yaml')).rejects.toThrow(
    'BARNABAS_DESTINATIONS_FILE: gone.yaml does not exist',
  )
})

test('BARNABAS_CLUSTERS_FILE is read in the same way', async () => {
  const clusters = async (text: string) => {
    await writeFile(join(cwd, 'clusters.yaml'), text)
    return readClustersFile({ cwd } as Terminal, 'clusters.yaml')
  }
  expect(await clusters('audit:\n  brokers: [one:9092]\n')).toEqual(new Map([['audit', { brokers: ['one:9092'] }]]))
  expect(await readClustersFile({ cwd } as Terminal, null)).toBe(null)
  await expect(clusters('audit: { brokers: [one] }')).rejects.toThrow(
    'BARNABAS_CLUSTERS_FILE: clusters.yaml: audit.brokers[0]: "one" is not host:port',
  )
  await expect(clusters('{"hunter2')).rejects.toThrow(
    /^BARNABAS_CLUSTERS_FILE: clusters\.yaml is neither YAML nor JSON$/,
  )
})
