import * as z from 'zod'
import { readHostPorts } from './host-ports.ts'
import { readHttpUrl } from './http-url.ts'
import { isClusterName } from './kafka-clusters.ts'
import { readNamedEntries } from './named-entries.ts'
import { readSecretName } from './secret-name.ts'
import type { Report, SubscriptionProblem } from './subscription-field.ts'
import { field, isMapping, mapping, readText, shown } from './subscription-field.ts'

const textLengthMax = 1_000

const accountSchema = mapping({
  mns: field(readEndpoint).optional(),
  eventbridge: field(readEndpoint).optional(),
  accessKeyId: field((value, report) => readText(value, report, textLengthMax)),
  accessKeySecret: field(readSecretName),
  securityToken: field(readSecretName).optional(),
})

const rocketMqSchema = mapping({
  endpoints: field((value, report) =>
    readHostPorts(value, report, { what: 'proxy', example: 'rocketmq.example.com:8081', login: 'username' }),
  ),
  ssl: field((value, report) =>
    typeof value === 'boolean' ? value : report(`${shown(value)} is neither true nor false`),
  ).optional(),
  namespace: field((value, report) => readText(value, report, textLengthMax)).optional(),
  username: field((value, report) => readText(value, report, textLengthMax)).optional(),
  password: field(readSecretName).optional(),
})

const rocketMqEntrySchema = z
  .object({
    rocketmq: rocketMqSchema.refine(
      ({ username, password }) => (username === undefined) === (password === undefined),
      'username and password go together',
    ),
  })
  .catchall(z.undefined('may not stand beside rocketmq; an account is an entry of its own'))
  .transform(({ rocketmq }) => ({ rocketmq }))

const connectionSchema = z.unknown().transform((value, context) => {
  const schema = isMapping(value) && 'rocketmq' in value ? rocketMqEntrySchema : accountSchema
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) context.issues.push({ ...issue, input: value } as z.core.$ZodRawIssue)
  return z.NEVER
})

/**
 * One entry of BARNABAS_TARGETS_FILE: where an account of Alibaba Cloud or a RocketMQ is reached, and who writes there,
 * secrets by their names (row B7).
 */
export type TargetConnection = z.output<typeof connectionSchema>

/** By name. */
export type TargetConnections = ReadonlyMap<string, TargetConnection>

export type ReadTargetConnections =
  | { readonly kind: 'connections'; readonly connections: TargetConnections }
  | { readonly kind: 'invalid'; readonly problems: readonly SubscriptionProblem[] }

/**
 * Reads what BARNABAS_TARGETS_FILE holds, already an object: at most 100 names, each with `accessKeyId`,
 * `accessKeySecret` and endpoints, or with `rocketmq`. Never throws, whatever the input, and shows nothing of a secret.
 */
export function readTargetConnections(root: unknown): ReadTargetConnections {
  const { entries, problems } = readNamedEntries(root, {
    what: 'targets',
    example:
      '{ ACCOUNT.REGION: { mns: "https://ACCOUNT.mns.REGION.aliyuncs.com", accessKeyId: ID, accessKeySecret: { secret: NAME } } }',
    entriesMax: 100,
    problemOfName: (name) =>
      isClusterName(name) ? null : 'is not the name of a connection: 1 to 64 letters, digits, "_", "." and "-"',
    schema: connectionSchema,
    knownFields: ([part]) => Object.keys(part === 'rocketmq' ? rocketMqSchema.shape : accountSchema.shape),
  })
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'connections', connections: entries }
}

/** Scheme, host and port: whatever is below is the protocol's. */
function readEndpoint(value: unknown, report: Report): string | undefined {
  const endpoint = readHttpUrl(value, report, textLengthMax, 'accessKeyId')
  if (endpoint === undefined) return undefined
  const { origin, pathname, search, hash } = new URL(endpoint)
  if (pathname === '/' && search === '' && hash === '') return origin
  return report(`${shown(endpoint)} is more than scheme, host and port; write ${origin}`)
}
