import type { Environment, EnvironmentReader } from './environment-reader.ts'

/** How a storage account is reached: what the `BARNABAS_BLOB_` variables say of it. */
export interface BlobAccount {
  /** An `https:` or `http:` URL, or a `file:` URL of a folder; null: Azure's own address of the account. */
  readonly endpoint: string | null
  /** Null: Azure's default credential chain. */
  readonly key: string | null
}

/** The accounts by their names, as subscriptions write them: lower-case letters and digits. */
export type BlobAccounts = Readonly<Record<string, BlobAccount>>

const blobVariable = /^BARNABAS_BLOB_(.*)_(?:ENDPOINT|KEY|KEY_FILE)$/

/** Reads `BARNABAS_BLOB_<ACCOUNT>_ENDPOINT` and `BARNABAS_BLOB_<ACCOUNT>_KEY` of every account that they name. */
export function readBlobEnvironment(env: Environment, reader: EnvironmentReader): BlobAccounts {
  const names = Object.keys(env).flatMap((name) => (reader.isSet(name) ? (blobVariable.exec(name)?.[1] ?? []) : []))
  const accounts: Record<string, BlobAccount> = {}
  for (const name of new Set(names)) {
    if (!/^[A-Z0-9]{3,24}$/.test(name)) {
      const rule = 'it is the name of a storage account in upper case, 3 to 24 letters and digits'
      reader.problems.push(`BARNABAS_BLOB_${name}_…: ${JSON.stringify(name)} names no storage account; ${rule}.`)
      continue
    }
    accounts[name.toLowerCase()] = readAccount(name, env, reader)
  }
  return accounts
}

function readAccount(name: string, env: Environment, reader: EnvironmentReader): BlobAccount {
  const [endpointName, keyName] = [`BARNABAS_BLOB_${name}_ENDPOINT`, `BARNABAS_BLOB_${name}_KEY`]
  const written = reader.isSet(endpointName) ? (env[endpointName]?.trim() ?? '') : null
  const problem = written === null ? null : endpointProblem(written)
  // The value is not shown: people paste addresses that end with a token.
  if (problem !== null) reader.problems.push(`${endpointName} cannot be used: ${problem}.`)
  const secret = reader.secret(keyName)?.trim()
  const isKey = secret !== undefined && secret.length % 4 === 0 && /^[A-Za-z0-9+/]{4,}={0,2}$/.test(secret)
  if (secret !== undefined && !isKey) {
    reader.problems.push(`${keyName} is not the key of a storage account, which is base64.`)
  }
  const hasKey = reader.isSet(keyName) || reader.isSet(`${keyName}_FILE`)
  if (written?.startsWith('http:') === true && !hasKey) {
    reader.problems.push(`${endpointName} begins with http: and needs ${keyName}; other credentials take https: only.`)
  }
  if (written?.startsWith('file:') === true && hasKey) {
    reader.warnings.push(`${keyName} has no effect, because ${endpointName} is a folder.`)
  }
  return { endpoint: problem === null ? (written?.replace(/\/+$/, '') ?? null) : null, key: secret ?? null }
}

function endpointProblem(text: string): string | null {
  const url = URL.parse(text)
  const isKnown = url !== null && ['https:', 'http:', 'file:'].includes(url.protocol)
  if (!isKnown || (url.protocol === 'file:' && url.host !== '')) {
    return 'allowed is a URL such as https://NAME.blob.core.windows.net, or of a folder: file:///var/lib/dead-letters'
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return 'user name, password, ? and # may not stand in it; the key is a variable of its own'
  }
  return null
}
