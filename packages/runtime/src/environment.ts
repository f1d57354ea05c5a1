import { readFileSync } from 'node:fs'
import { readBlobEnvironment } from './blob-environment.ts'
import { logLevels, type Config } from './config.ts'
import { warningsAboutNames } from './environment-names.ts'
import { createEnvironmentReader, type Environment, type ReadFile } from './environment-reader.ts'
import {
  anyText,
  dnsName,
  duration,
  factor,
  flag,
  hostName,
  networkList,
  oneOf,
  publicUrlText,
  size,
  topicPrefix,
  wholeNumber,
} from './environment-values.ts'
import { readKafkaEnvironment } from './kafka-environment.ts'
import { readSecretsEnvironment } from './secrets-environment.ts'

/** `invalid` carries one sentence per bad value, naming the variable, the value (unless secret) and what is allowed. */
export type EnvironmentReading =
  | { readonly kind: 'ok'; readonly config: Config; readonly warnings: readonly string[] }
  | { readonly kind: 'invalid'; readonly problems: readonly string[] }

export interface EnvironmentOptions {
  /** `start` (everything in one process for a person at a terminal) has defaults of its own. */
  readonly kind: 'service' | 'start'
  readonly readFile?: ReadFile
}

/**
 * Reads the environment once, whole, with every problem at once. The table of variables with their defaults is
 * `environmentVariables`. An empty variable counts as unset, as docker-compose's `${NAME:-}` writes it.
 */
export function readEnvironment(env: Environment, options: EnvironmentOptions): EnvironmentReading {
  const reader = createEnvironmentReader(env, options.readFile ?? ((path) => readFileSync(path, 'utf8')))
  const isStart = options.kind === 'start'
  const kafka = readKafkaEnvironment(reader)
  const publicUrl = reader.value('BARNABAS_PUBLIC_URL', publicUrlText) ?? null
  const config: Config = {
    kafka,
    prefix: reader.value('BARNABAS_PREFIX', topicPrefix) ?? 'barnabas',
    partitions: reader.value('BARNABAS_PARTITIONS', wholeNumber(1, 10_000)) ?? 8,
    tierPartitions: reader.value('BARNABAS_TIER_PARTITIONS', wholeNumber(1, 1_000)) ?? 8,
    replication: reader.value('BARNABAS_REPLICATION', wholeNumber(1, 32_767)) ?? 'auto',
    dataDir: reader.value('BARNABAS_DATA_DIR', anyText) ?? '.barnabas',
    kafkaPort: reader.value('BARNABAS_KAFKA_PORT', wholeNumber(1, 65_535)) ?? null,
    httpHost: reader.value('BARNABAS_HTTP_HOST', hostName) ?? '127.0.0.1',
    httpPort: reader.value('BARNABAS_HTTP_PORT', wholeNumber(0, 65_535)) ?? (isStart ? 8080 : undefined),
    demo: reader.value('BARNABAS_DEMO', flag) ?? kafka.brokers === null,
    allowedNetworks: reader.value('BARNABAS_ALLOWED_NETWORKS', networkList) ?? [],
    publicUrl,
    origin: reader.value('BARNABAS_ORIGIN', dnsName) ?? originOf(publicUrl),
    drainTimeoutMs:
      reader.value('BARNABAS_DRAIN_TIMEOUT', duration(0, 3_600_000, 'at most 1h')) ?? (isStart ? 8_000 : 25_000),
    timeScale: reader.value('BARNABAS_TIME_SCALE', factor) ?? 1,
    // The limits of row A9.
    eventGrid: {
      maxAttempts: reader.value('BARNABAS_EVENT_GRID_MAX_ATTEMPTS', wholeNumber(1, 30)) ?? 30,
      timeToLiveMs:
        reader.value('BARNABAS_EVENT_GRID_TIME_TO_LIVE', duration(60_000, 86_400_000, 'from 1m to 24h')) ?? 86_400_000,
      // Row A11.
      batchMaxEvents: reader.value('BARNABAS_EVENT_GRID_BATCH_MAX_EVENTS', wholeNumber(1, 5_000)) ?? 10,
      batchPreferredBytes:
        reader.value('BARNABAS_EVENT_GRID_BATCH_PREFERRED_SIZE', size(1_024, 1_048_576, 'from 1KB to 1024KB')) ?? null,
    },
    destinationsFile: reader.value('BARNABAS_DESTINATIONS_FILE', anyText) ?? null,
    targetsFile: reader.value('BARNABAS_TARGETS_FILE', anyText) ?? null,
    clustersFile: reader.value('BARNABAS_CLUSTERS_FILE', anyText) ?? null,
    // The upper limit is the broker's default of group.max.session.timeout.ms.
    sessionTimeoutMs: reader.value('BARNABAS_SESSION_TIMEOUT', duration(1_000, 1_800_000, 'from 1s to 30m')) ?? 10_000,
    logLevel: reader.value('BARNABAS_LOG_LEVEL', oneOf(logLevels)) ?? 'info',
    blobAccounts: readBlobEnvironment(env, reader),
    secrets: readSecretsEnvironment(env, reader),
  }
  reader.value('BARNABAS_TEST_KAFKA', oneOf(['container']))
  if (reader.problems.length > 0) return { kind: 'invalid', problems: reader.problems }
  if (config.timeScale !== 1)
    reader.warnings.push(`BARNABAS_TIME_SCALE=${config.timeScale} changes every delay and is meant for tests only.`)
  return { kind: 'ok', config, warnings: [...reader.warnings, ...warningsAboutNames(env)] }
}

/** A receiver that allows some origins only must be told ours, so it depends on nothing that changes by itself. */
function originOf(publicUrl: string | null): string {
  const host = publicUrl === null ? '' : new URL(publicUrl).hostname
  return dnsName(host).kind === 'ok' ? host : 'barnabas.local'
}
