import type { BlobAccounts } from './blob-environment.ts'
import type { SecretsConfig } from './secrets.ts'

/** The environment of a process, read and checked: what `main.ts` hands to whatever it creates. */
export interface Config {
  readonly kafka: KafkaConfig
  /** Of the names of topics and consumer groups. */
  readonly prefix: string
  readonly partitions: number
  readonly tierPartitions: number
  /** `auto`: the smaller of 3 and the number of brokers, known once Kafka was asked. */
  readonly replication: number | 'auto'
  readonly dataDir: string
  /** Of the local broker; null: 9092, else the next free one. */
  readonly kafkaPort: number | null
  readonly httpHost: string
  /** 0: any free one; undefined: no HTTP server. */
  readonly httpPort: number | undefined
  readonly demo: boolean
  /** As written in `BARNABAS_ALLOWED_NETWORKS`; `start` adds loopback when it is empty. */
  readonly allowedNetworks: readonly string[]
  /** Where validation and callback URLs of handshakes begin, without a slash at the end; null: there are none. */
  readonly publicUrl: string | null
  /** The DNS name that we say we are. */
  readonly origin: string
  readonly drainTimeoutMs: number
  readonly timeScale: number
  /** What Event Grid's notations fall to where they name no limit. */
  readonly eventGrid: {
    readonly maxAttempts: number
    readonly timeToLiveMs: number
    readonly batchMaxEvents: number
    /** Null: 64 KB in the cloud, 1,058,576 bytes on Kubernetes. */
    readonly batchPreferredBytes: number | null
  }
  /** Where API destinations stand, which the command line finds by their names; null: nowhere. */
  readonly destinationsFile: string | null
  /** Where other Kafka clusters stand by their names; null: there are none. */
  readonly clustersFile: string | null
  /** Where dead letters are carried to besides Kafka; null: nowhere. */
  readonly targetsFile: string | null
  readonly sessionTimeoutMs: number
  readonly logLevel: LogLevel
  readonly blobAccounts: BlobAccounts
  /** Of the headers of subscriptions. */
  readonly secrets: SecretsConfig
}

export interface KafkaConfig {
  /** `host:port` each; null: the broker that `start` runs. */
  readonly brokers: readonly string[] | null
  /** Null: no TLS. The members are PEM texts. */
  readonly ssl: TlsFiles | null
  readonly sasl: SaslConfig | null
}

export interface TlsFiles {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
}

export interface SaslConfig {
  readonly mechanism: SaslMechanism
  readonly username: string
  readonly password: string
}

export const saslMechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const
export type SaslMechanism = (typeof saslMechanisms)[number]

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** The resolved configuration for the log line at start: everything but what is secret. */
export function describeConfig(config: Config): Record<string, unknown> {
  const { kafka, httpPort, blobAccounts, secrets, ...rest } = config
  return {
    ...rest,
    httpPort: httpPort ?? 'off',
    blobAccounts: Object.fromEntries(
      Object.entries(blobAccounts).map(([name, { endpoint, key }]) => [
        name,
        { endpoint: endpoint ?? "Azure's own", key: key === null ? 'none' : 'set' },
      ]),
    ),
    secrets: {
      names: [...Object.keys(secrets.values), ...Object.keys(secrets.files)].toSorted(),
      dir: secrets.dir ?? 'none',
    },
    kafka: {
      brokers: kafka.brokers ?? 'local',
      ssl: kafka.ssl === null ? false : { ca: has(kafka.ssl.ca), cert: has(kafka.ssl.cert), key: has(kafka.ssl.key) },
      sasl: kafka.sasl === null ? false : { mechanism: kafka.sasl.mechanism, username: kafka.sasl.username },
    },
  }
}

const has = (pem: string | undefined): string => (pem === undefined ? 'none' : 'from file')
