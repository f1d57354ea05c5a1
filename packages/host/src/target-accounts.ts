import { readTargetConnections, targetText } from '@barnabas/core'
import type { Subscription, TargetConnection, TargetConnections, TargetKind } from '@barnabas/core'
import { readSettingsFile } from '@barnabas/runtime'
import type { FoundSecret } from '@barnabas/runtime'
import { missingEntry } from './missing-entry.ts'

/** The targets that are reached through an account. */
export type AccountKind = 'mns' | 'eventbridge'

/** Who writes, at Alibaba Cloud. */
export interface AlibabaCredentials {
  readonly accessKeyId: string
  readonly accessKeySecret: string
  /** Of temporary credentials (STS); null for others. */
  readonly securityToken: string | null
}

/** One sentence: the name is in no file, it has no such endpoint, or a secret is not known. */
export interface UnknownConnection {
  readonly kind: 'unknown'
  readonly message: string
}

export type FoundConnection =
  | {
      readonly kind: 'connection'
      /** Scheme, host and port. */
      readonly endpoint: string
      readonly credentials: AlibabaCredentials
    }
  | UnknownConnection

/** How a RocketMQ is reached. */
export interface RocketMqConnection {
  readonly kind: 'connection'
  /** host:port of its proxies. */
  readonly endpoints: readonly string[]
  readonly isSecure: boolean
  /** Empty for none. */
  readonly namespace: string
  readonly login: { readonly username: string; readonly password: string } | null
}

/** Where dead letters are carried to besides Kafka: the connections of BARNABAS_TARGETS_FILE (row B7). */
export interface TargetAccounts {
  /** As it is known now: its secrets may be others the next time. */
  find(kind: AccountKind, connection: string): FoundConnection
  findRocketMq(connection: string): RocketMqConnection | UnknownConnection
  /** Why dead letters of the subscription cannot be carried; null for nothing. */
  problemOf(subscription: Subscription): string | null
}

export interface TargetAccountsOptions {
  /** Null: there are none. */
  readonly file: string | null
  readonly cwd: string
  readonly findSecret: (name: string) => FoundSecret
}

export type OpenedTargetAccounts =
  | { readonly kind: 'opened'; readonly accounts: TargetAccounts }
  /** One sentence for each thing that is wrong, naming file, entry and field. */
  | { readonly kind: 'invalid'; readonly message: string }

/** Reads the file. Connects to nothing. */
export async function openTargetAccounts(options: TargetAccountsOptions): Promise<OpenedTargetAccounts> {
  const { file, cwd } = options
  if (file === null) return { kind: 'opened', accounts: accountsOf(new Map(), options) }
  const reading = await readSettingsFile(file, cwd)
  if (reading.kind === 'failed') return { kind: 'invalid', message: `BARNABAS_TARGETS_FILE: ${reading.message}` }
  const read = readTargetConnections(reading.root)
  if (read.kind === 'connections') return { kind: 'opened', accounts: accountsOf(read.connections, options) }
  const messages = read.problems.map(({ message }) => `BARNABAS_TARGETS_FILE: ${file}: ${message}`)
  return { kind: 'invalid', message: messages.join('\n') }
}

function accountsOf(entries: TargetConnections, { file, findSecret }: TargetAccountsOptions): TargetAccounts {
  function entryOf(name: string, written: string): TargetConnection | UnknownConnection {
    const entry = entries.get(name)
    if (entry !== undefined) return entry
    const message = missingEntry({
      what: 'connection',
      name,
      variable: 'BARNABAS_TARGETS_FILE',
      names: file === null ? null : [...entries.keys()],
      example: `${name}: { ${written} }`,
    })
    return { kind: 'unknown', message }
  }

  function lacking(name: string, kind: TargetKind, written: string): UnknownConnection {
    const message = `the connection ${name} of BARNABAS_TARGETS_FILE has no ${kind}; write \`${written}\` there`
    return { kind: 'unknown', message }
  }

  function secretOf(name: string, reference: { readonly secret: string }): FoundSecret {
    const found = findSecret(reference.secret)
    return found.kind === 'value' ? found : { kind: 'unknown', message: `the connection ${name}: ${found.message}` }
  }

  function find(kind: AccountKind, name: string): FoundConnection {
    const written = `${kind}: https://ACCOUNT.${kind}.REGION.aliyuncs.com`
    const entry = entryOf(name, `${written}, accessKeyId: ID, accessKeySecret: { secret: NAME }`)
    if ('kind' in entry) return entry
    if ('rocketmq' in entry) return lacking(name, kind, written)
    const { [kind]: endpoint, accessKeyId, accessKeySecret, securityToken } = entry
    if (endpoint === undefined) return lacking(name, kind, written)
    const secret = secretOf(name, accessKeySecret)
    if (secret.kind === 'unknown') return secret
    const token = securityToken && secretOf(name, securityToken)
    if (token?.kind === 'unknown') return token
    const credentials = { accessKeyId, accessKeySecret: secret.value, securityToken: token?.value ?? null }
    return { kind: 'connection', endpoint, credentials }
  }

  function findRocketMq(name: string): RocketMqConnection | UnknownConnection {
    const written = 'rocketmq: { endpoints: [rocketmq.example.com:8081] }'
    const entry = entryOf(name, written)
    if ('kind' in entry) return entry
    if (!('rocketmq' in entry)) return lacking(name, 'rocketmq', written)
    const { endpoints, ssl, namespace, username, password } = entry.rocketmq
    const secret = password && secretOf(name, password)
    if (secret?.kind === 'unknown') return secret
    return {
      kind: 'connection',
      endpoints,
      isSecure: ssl ?? false,
      namespace: namespace ?? '',
      login: username === undefined || secret === undefined ? null : { username, password: secret.value },
    }
  }

  return {
    find,
    findRocketMq,
    problemOf({ deadLetter }) {
      const target = deadLetter?.target
      if (target === undefined || target.kind === 'kafka') return null
      const { kind, connection } = target
      const found = kind === 'rocketmq' ? findRocketMq(connection) : find(kind, connection)
      return found.kind === 'unknown' ? `deadLetter.target: ${targetText(target)}: ${found.message}` : null
    },
  }
}
