import type * as z from 'zod'
import { readHostPorts } from './host-ports.ts'
import { topicNameProblem } from './names.ts'
import { readNamedEntries } from './named-entries.ts'
import { didYouMean } from './nearest-name.ts'
import { readSecretName } from './secret-name.ts'
import type { Report, SubscriptionProblem } from './subscription-field.ts'
import { field, isMapping, mapping, problemsOfIssue, readText, shown } from './subscription-field.ts'

const textLengthMax = 1_000
const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const

const sslSchema = mapping({
  caFile: field(readFileName).optional(),
  certFile: field(readFileName).optional(),
  keyFile: field(readFileName).optional(),
})

const saslSchema = mapping({
  mechanism: field(readMechanism),
  username: field((value, report) => readText(value, report, textLengthMax)),
  password: field(readSecretName),
})

const clusterSchema = mapping({
  brokers: field((value, report) =>
    readHostPorts(value, report, { what: 'broker', example: 'kafka.example.com:9092', login: 'sasl' }),
  ),
  ssl: field(readSsl).optional(),
  sasl: saslSchema.optional(),
})

/** Files of PEM text, named by their paths. */
export type ClusterTlsFiles = Readonly<z.output<typeof sslSchema>>

/** One entry of BARNABAS_CLUSTERS_FILE: another Kafka cluster and how it is reached, its password by the name of a secret. */
export type KafkaCluster = Readonly<z.output<typeof clusterSchema>>

/** By name. */
export type KafkaClusters = ReadonlyMap<string, KafkaCluster>

export type ReadKafkaClusters =
  | { readonly kind: 'clusters'; readonly clusters: KafkaClusters }
  | { readonly kind: 'invalid'; readonly problems: readonly SubscriptionProblem[] }

/**
 * Reads what BARNABAS_CLUSTERS_FILE holds, already an object: at most 100 names, each with `brokers` and maybe `ssl` and
 * `sasl`. Never throws, whatever the input, and shows nothing of a password.
 */
export function readKafkaClusters(root: unknown): ReadKafkaClusters {
  const { entries, problems } = readNamedEntries(root, {
    what: 'clusters',
    example: '{ audit: { brokers: [kafka.example.com:9092] } }',
    entriesMax: 100,
    problemOfName: (name) =>
      isClusterName(name) ? null : 'is not the name of a cluster: 1 to 64 letters, digits, "_", "." and "-"',
    schema: clusterSchema,
    knownFields: ([part]) => Object.keys(part === 'sasl' ? saslSchema.shape : clusterSchema.shape),
  })
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'clusters', clusters: entries }
}

/** Whether a cluster can have that name, which stands in `kafka://<cluster>/<topic>`. */
export function isClusterName(name: string): boolean {
  return topicNameProblem(name) === null && name.length <= 64
}

function readSsl(value: unknown, report: Report): boolean | ClusterTlsFiles | undefined {
  if (typeof value === 'boolean') return value
  if (!isMapping(value)) return report(`${shown(value)} is neither true nor false nor { caFile: ca.pem }`)
  const parsed = sslSchema.safeParse(value)
  if (!parsed.success) {
    for (const issue of parsed.error.issues) {
      for (const { path, message } of problemsOfIssue(issue, () => Object.keys(sslSchema.shape)))
        report(message, ...path)
    }
    return undefined
  }
  const { certFile, keyFile } = parsed.data
  if ((certFile === undefined) !== (keyFile === undefined)) return report('certFile and keyFile go together')
  return parsed.data
}

function readFileName(value: unknown, report: Report): string | undefined {
  // A private key that was written here instead of its file is not shown.
  if (typeof value === 'string' && value.includes('-----BEGIN')) {
    return report('holds the text itself; write the path of a file with it')
  }
  return readText(value, report, textLengthMax)
}

function readMechanism(value: unknown, report: Report): (typeof mechanisms)[number] | undefined {
  const found = mechanisms.find((each) => each === value)
  if (found !== undefined) return found
  if (value === undefined) return report(`is missing; one of ${mechanisms.join(', ')}`)
  return report(`${shown(value)} is not known; one of ${mechanisms.join(', ')}${didYouMean(value, mechanisms)}`)
}
