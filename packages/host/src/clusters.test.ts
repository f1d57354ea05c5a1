import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { KafkaClient } from '@barnabas/kafka'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openClusters } from './clusters.ts'
import type { ClusterConnectOptions, ClustersOptions } from './clusters.ts'

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'barnabas-clusters-'))
})
afterAll(() => rm(cwd, { recursive: true, force: true }))

async function open(text: string | null, options: Partial<ClustersOptions> = {}) {
  const connected: ClusterConnectOptions[] = []
  const closed: ClusterConnectOptions[] = []
  if (text !== null) await writeFile(join(cwd, 'clusters.yaml'), text)
  const opened = await openClusters({
    file: text === null ? null : 'clusters.yaml',
    cwd,
    findSecret: (name) => ({ kind: 'unknown', message: `the secret ${name} is not known` }),
    connect(how) {
      connected.push(how)
      return { close: async () => void closed.push(how) } as KafkaClient
    },
    ...options,
  })
  return { opened, connected, closed }
}

function clustersOf({ opened }: Awaited<ReturnType<typeof open>>) {
  if (opened.kind === 'invalid') throw new Error(opened.message)
  return opened.clusters
}

const audit =
  'audit: { brokers: [one:9092], ssl: true, sasl: { mechanism: plain, username: me, password: { secret: AUDIT } } }'

test('a cluster is connected when it is first asked for, once, and again when its password is another', async () => {
  let value = 'hunter2'
  const files = await open(audit, { findSecret: () => ({ kind: 'value', value }) })
  const clusters = clustersOf(files)
  expect(files.connected).toEqual([])
  expect(clusters.client('audit')).toEqual(clusters.client('audit'))
  const how = { brokers: ['one:9092'], ssl: true, sasl: { mechanism: 'plain', username: 'me', password: 'hunter2' } }
  expect(files.connected).toEqual([how])
  value = 'hunter3'
  clusters.client('audit')
  expect(files.connected[1]?.sasl).toMatchObject({ password: 'hunter3' })
  await clusters.close()
  expect(files.closed).toHaveLength(2)
  expect(clusters.brokersOf('audit')).toEqual(['one:9092'])
})

test('what is missing is named', async () => {
  const clusters = clustersOf(await open(audit))
  expect(clusters.client('audit')).toEqual({
    kind: 'unknown',
    message: 'the cluster audit: the secret AUDIT is not known',
  })
  expect(clusters.client('audti')).toMatchObject({
    message: expect.stringContaining('the cluster audti is not in BARNABAS_CLUSTERS_FILE (did you mean audit?)'),
  })
  expect(clustersOf(await open(null)).client('audit')).toMatchObject({
    message: expect.stringContaining('the cluster audit is not known: set BARNABAS_CLUSTERS_FILE'),
  })
})

test.each([
  ['', 'clusters.yaml: clusters: null is not a mapping'],
  ['a: [', 'clusters.yaml is neither YAML nor JSON'],
  ['a: { brokers: [one] }', 'clusters.yaml: a.brokers[0]: "one" is not host:port'],
  ['a: { brokers: [one:1], ssl: { caFile: gone.pem } }', 'clusters.yaml: a.ssl.caFile: gone.pem does not exist'],
  [
    'a: { brokers: [one:1], ssl: { certFile: clusters.yaml, keyFile: clusters.yaml } }',
    /certFile: clusters\.yaml does not hold a certificate in PEM form\n.*keyFile: clusters\.yaml does not hold a private key/,
  ],
])('%j is refused', async (text, message) => {
  const { opened } = await open(text)
  const refusal = opened.kind === 'invalid' ? opened.message : ''
  expect(refusal).toMatch(message)
  expect(refusal).toMatch(/^BARNABAS_CLUSTERS_FILE: /)
})

test('a file that is not there is named', async () => {
  const { opened } = await open('', { file: 'gone.yaml' })
  expect(opened).toEqual({ kind: 'invalid', message: 'BARNABAS_CLUSTERS_FILE: gone.yaml does not exist' })
})
