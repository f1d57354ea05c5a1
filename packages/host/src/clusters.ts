import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readKafkaClusters } from '@barnabas/core'
import type { ClusterTlsFiles, KafkaCluster, KafkaClusters } from '@barnabas/core'
import type { KafkaClient, KafkaConnectOptions } from '@barnabas/kafka'
import { fileProblem, readSettingsFile } from '@barnabas/runtime'
import type { SinkClient } from '@barnabas/kafka-sink'
import type { FoundSecret } from '@barnabas/runtime'
import { missingEntry } from './missing-entry.ts'

/** The other Kafka clusters that this process may reach: those of BARNABAS_CLUSTERS_FILE. */
export interface Clusters {
  /**
   * The client of a cluster, connected on first use and made anew when its password is another. A message says in one
   * sentence what is missing: the name is in no file, or its secret is not known.
   */
  client(name: string): SinkClient
  /** Where the cluster is, host:port each; undefined when it is not known. */
  brokersOf(name: string): readonly string[] | undefined
  close(): Promise<void>
}

export interface ClustersOptions {
  /** Null: there are none. */
  readonly file: string | null
  readonly cwd: string
  readonly findSecret: (name: string) => FoundSecret
  readonly connect: (options: ClusterConnectOptions) => KafkaClient
}

export type ClusterConnectOptions = Pick<KafkaConnectOptions, 'brokers' | 'ssl' | 'sasl'>

export type OpenedClusters =
  | { readonly kind: 'opened'; readonly clusters: Clusters }
  /** One sentence for each thing that is wrong, naming file, entry and field. */
  | { readonly kind: 'invalid'; readonly message: string }

type Tls = Exclude<NonNullable<KafkaConnectOptions['ssl']>, boolean>

interface Entry {
  readonly cluster: KafkaCluster
  readonly ssl: boolean | Tls
}

/** Reads the file and the certificates that it names. Connects to nothing. */
export async function openClusters(options: ClustersOptions): Promise<OpenedClusters> {
  const { file, cwd } = options
  if (file === null) return { kind: 'opened', clusters: clustersOf(new Map(), options) }
  const invalid = (messages: readonly string[]): OpenedClusters => {
    return { kind: 'invalid', message: messages.map((each) => `BARNABAS_CLUSTERS_FILE: ${each}`).join('\n') }
  }
  const reading = await readSettingsFile(file, cwd)
  if (reading.kind === 'failed') return invalid([reading.message])
  const read = readKafkaClusters(reading.root)
  if (read.kind === 'invalid') return invalid(read.problems.map(({ message }) => `${file}: ${message}`))
  const { entries, problems } = await withCertificates(read.clusters, cwd)
  if (problems.length > 0) return invalid(problems.map((each) => `${file}: ${each}`))
  return { kind: 'opened', clusters: clustersOf(entries, options) }
}

function clustersOf(entries: ReadonlyMap<string, Entry>, { file, findSecret, connect }: ClustersOptions): Clusters {
  const clients = new Map<string, { readonly password: string | null; readonly kafka: KafkaClient }>()
  const all = new Set<KafkaClient>()

  function unknown(name: string): SinkClient {
    const message = missingEntry({
      what: 'cluster',
      name,
      variable: 'BARNABAS_CLUSTERS_FILE',
      names: file === null ? null : [...entries.keys()],
      example: `${name}: { brokers: [host:port] }`,
    })
    return { kind: 'unknown', message }
  }

  return {
    client(name) {
      const entry = entries.get(name)
      if (entry === undefined) return unknown(name)
      const { brokers, sasl } = entry.cluster
      const secret = sasl === undefined ? null : findSecret(sasl.password.secret)
      if (secret?.kind === 'unknown') return { kind: 'unknown', message: `the cluster ${name}: ${secret.message}` }
      const password = secret?.value ?? null
      const known = clients.get(name)
      if (known?.password === password) return { kind: 'client', kafka: known.kafka }
      // What was made with the former password goes on with it until this process ends.
      const kafka = connect({
        brokers,
        ...(entry.ssl === false ? {} : { ssl: entry.ssl }),
        ...(sasl === undefined || password === null
          ? {}
          : { sasl: { mechanism: sasl.mechanism, username: sasl.username, password } }),
      })
      clients.set(name, { password, kafka })
      all.add(kafka)
      return { kind: 'client', kafka }
    },
    brokersOf: (name) => entries.get(name)?.cluster.brokers,
    async close() {
      await Promise.all([...all].map((kafka) => kafka.close()))
    },
  }
}

async function withCertificates(clusters: KafkaClusters, cwd: string) {
  const entries = new Map<string, Entry>()
  const problems: string[] = []
  for (const [name, cluster] of clusters) {
    const { ssl = false } = cluster
    if (typeof ssl === 'boolean') entries.set(name, { cluster, ssl })
    else {
      const read = await readCertificates(ssl, cwd)
      if (read.problems.length === 0) entries.set(name, { cluster, ssl: read.tls })
      problems.push(...read.problems.map((problem) => `${name}.ssl.${problem}`))
    }
  }
  return { entries, problems }
}

async function readCertificates({ caFile, certFile, keyFile }: ClusterTlsFiles, cwd: string) {
  const problems: string[] = []

  async function pem(field: string, file: string | undefined, what: string, check: (text: string) => unknown) {
    if (file === undefined) return undefined
    try {
      const text = await readFile(resolve(cwd, file), 'utf8')
      if (isReadable(text, check)) return text
      problems.push(`${field}: ${file} does not hold a ${what} in PEM form`)
    } catch (error) {
      problems.push(`${field}: ${fileProblem(file, error)}`)
    }
    return undefined
  }

  const certificate = (text: string) => new X509Certificate(text)
  const ca = await pem('caFile', caFile, 'certificate', certificate)
  const cert = await pem('certFile', certFile, 'certificate', certificate)
  const key = await pem('keyFile', keyFile, 'private key without a passphrase', createPrivateKey)
  const tls: Tls = {
    ...(ca === undefined ? {} : { ca: [ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  }
  return { tls, problems }
}

/** The library's message says little and could quote the file. */
function isReadable(text: string, check: (text: string) => unknown): boolean {
  try {
    check(text)
    return true
  } catch {
    return false
  }
}
