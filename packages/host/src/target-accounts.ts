import { readTargetConnections, targetText } from '@barnabas/core'
import type { Subscription, TargetConnections } from '@barnabas/core'
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

export type FoundConnection =
  | {
      readonly kind: 'connection'
      /** Scheme, host and port. */
      readonly endpoint: string
      readonly credentials: AlibabaCredentials
    }
  /** One sentence: the name is in no file, it has no such endpoint, or a secret is not known. */
  | { readonly kind: 'unknown'; readonly message: string }

/** Where dead letters are carried to besides Kafka: the accounts of BARNABAS_TARGETS_FILE (row B7). */
export interface TargetAccounts {
  /** As it is known now: its secrets may be others the next time. */
  find(kind: AccountKind, connection: string): FoundConnection
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
  function find(kind: AccountKind, name: string): FoundConnection {
    const written = `${kind}: https://ACCOUNT.${kind}.REGION.aliyuncs.com`
    const entry = entries.get(name)
    if (entry === undefined) {
      const message = missingEntry({
        what: 'connection',
        name,
        variable: 'BARNABAS_TARGETS_FILE',
        names: file === null ? null : [...entries.keys()],
        example: `${name}: { ${written}, accessKeyId: ID, accessKeySecret: { secret: NAME } }`,
      })
      return { kind: 'unknown', message }
    }
    const endpoint = entry[kind]
    if (endpoint === undefined) {
      const message = `the connection ${name} of BARNABAS_TARGETS_FILE has no ${kind}; write \`${written}\` there`
      return { kind: 'unknown', message }
    }
    const secret = findSecret(entry.accessKeySecret.secret)
    if (secret.kind === 'unknown') return { kind: 'unknown', message: `the connection ${name}: ${secret.message}` }
    const token = entry.securityToken === undefined ? null : findSecret(entry.securityToken.secret)
    if (token?.kind === 'unknown') return { kind: 'unknown', message: `the connection ${name}: ${token.message}` }
    const { accessKeyId } = entry
    const credentials = { accessKeyId, accessKeySecret: secret.value, securityToken: token?.value ?? null }
    return { kind: 'connection', endpoint, credentials }
  }

  return {
    find,
    problemOf({ deadLetter }) {
      const target = deadLetter?.target
      if (target?.kind !== 'mns' && target?.kind !== 'eventbridge') return null
      const found = find(target.kind, target.connection)
      return found.kind === 'unknown' ? `deadLetter.target: ${targetText(target)}: ${found.message}` : null
    },
  }
}
