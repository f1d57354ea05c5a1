import type { EnvironmentReader, Environment } from './environment-reader.ts'
import { anyText } from './environment-values.ts'
import type { SecretsConfig } from './secrets.ts'

const prefix = 'BARNABAS_SECRET_'
const fileSuffix = '_FILE'

/** Every `BARNABAS_SECRET_<NAME>` that is set; which of them a subscription means is known later. */
export function readSecretsEnvironment(env: Environment, reader: EnvironmentReader): SecretsConfig {
  const values: Record<string, string> = {}
  const files: Record<string, string> = {}
  for (const name of Object.keys(env)) {
    if (!name.startsWith(prefix) || !reader.isSet(name)) continue
    const secret = name.slice(prefix.length)
    if (!secret.endsWith(fileSuffix)) values[secret] = env[name] ?? ''
    else files[secret.slice(0, -fileSuffix.length)] = reader.value(name, anyText) ?? ''
  }
  for (const secret of Object.keys(files)) {
    if (values[secret] === undefined) continue
    reader.problems.push(`${prefix}${secret} and ${prefix}${secret}${fileSuffix} are both set; set only one of them.`)
  }
  return { values, files, dir: reader.value('BARNABAS_SECRETS_DIR', anyText) ?? null }
}
