import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { kafkaVersion } from './broker-config.ts'
import { parseJson } from './json.ts'
import { LocalKafkaError, fileError, interrupted } from './local-kafka-error.ts'
import { tryLock } from './process-lock.ts'

/*
 * The cache: <cache>/barnabas/kafka-<version>/{*.jar, complete.json}. It is filled beside its place and renamed into
 * it, so a folder under that name is whole unless somebody touched it; complete.json tells (names and sizes).
 */

const pom = fileURLToPath(new URL('../pom.xml', import.meta.url))
const markerName = 'complete.json'

const marker = z.object({
  /** Of the pom that the jars were resolved with: a changed pom fetches anew. */
  pomHash: z.string(),
  /** Name and size in bytes. */
  jars: z.record(z.string(), z.number()),
})

function kafkaCacheDir(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'barnabas', `kafka-${kafkaVersion}`)
}

/** Whether the broker can be run without fetching anything. */
export async function areJarsCached(env: NodeJS.ProcessEnv): Promise<boolean> {
  return isComplete(kafkaCacheDir(env), await pomHash())
}

/**
 * The folder with the broker's jars, fetched from Maven Central with the `mvn` on the path when they are not in the
 * cache. Several processes may ask at once: one fetches, the others wait. Throws `MavenFailed` and what files throw.
 */
export async function kafkaJars(
  env: NodeJS.ProcessEnv,
  onProgress: (message: string) => void,
  signal?: AbortSignal,
): Promise<string> {
  const dir = kafkaCacheDir(env)
  const hash = await pomHash()
  if (await isComplete(dir, hash)) return dir
  try {
    await mkdir(join(dir, '..'), { recursive: true })
    const release = await waitForLock(`${dir}.lock`, onProgress, signal)
    try {
      // Another process may have fetched meanwhile.
      if (!(await isComplete(dir, hash))) await fetchJars(dir, hash, env, onProgress, signal)
    } finally {
      await release()
    }
  } catch (error) {
    throw error instanceof LocalKafkaError ? error : fileError(dir, error)
  }
  return dir
}

async function fetchJars(
  dir: string,
  hash: string,
  env: NodeJS.ProcessEnv,
  onProgress: (message: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  // Only the holder of the lock is here, so what lies about was left by a process that was cut off.
  for (const name of await readdir(join(dir, '..'))) {
    if (name.startsWith(`kafka-${kafkaVersion}.partial-`)) await rm(join(dir, '..', name), { recursive: true })
  }
  onProgress(`fetching Apache Kafka ${kafkaVersion} from Maven Central (about 45 MB, once) into ${dir}`)
  const partial = `${dir}.partial-${randomUUID()}`
  await mkdir(partial)
  try {
    await runMaven(partial, env, signal)
    const jars: Record<string, number> = {}
    for (const name of await readdir(partial)) jars[name] = (await stat(join(partial, name))).size
    await writeFile(join(partial, markerName), JSON.stringify({ pomHash: hash, jars } satisfies z.infer<typeof marker>))
    await rm(dir, { recursive: true, force: true })
    await rename(partial, dir)
  } finally {
    await rm(partial, { recursive: true, force: true })
  }
}

function runMaven(outputDir: string, env: NodeJS.ProcessEnv, signal?: AbortSignal): Promise<void> {
  const args = ['-q', '-B', '-f', pom, 'dependency:copy-dependencies', `-DoutputDirectory=${outputDir}`]
  return new Promise((resolve, reject) => {
    const child = spawn('mvn', args, { env, stdio: ['ignore', 'pipe', 'pipe'], ...(signal ? { signal } : {}) })
    let output = ''
    const collect = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-8_192))
    child.stdout.on('data', collect)
    child.stderr.on('data', collect)
    child.once('error', (error) => reject(signal?.aborted ? interrupted() : mavenFailed(error.message)))
    child.once('close', (code, killedBy) => {
      if (code === 0) resolve()
      else if (signal?.aborted) reject(interrupted())
      else reject(mavenFailed(lastLines(output) || `it ended with ${killedBy ?? `status ${code}`}`))
    })
  })
}

function mavenFailed(reason: string): LocalKafkaError {
  return new LocalKafkaError(
    'MavenFailed',
    `Maven could not fetch Apache Kafka ${kafkaVersion}; start again when the cause is mended ` +
      `(\`mvn\` must be on the path and reach Maven Central), or set KAFKA_BROKERS. It says:\n${reason}`,
  )
}

function lastLines(output: string): string {
  // Maven resets the terminal's colours even without a terminal.
  const plain = output.replace(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g'), '')
  const lines = plain.split('\n').filter((line) => line.trim() !== '')
  return lines
    .slice(-8)
    .map((line) => `  ${line}`)
    .join('\n')
}

async function isComplete(dir: string, hash: string): Promise<boolean> {
  try {
    const { pomHash: of, jars } = marker.parse(parseJson(await readFile(join(dir, markerName), 'utf8')))
    const sizes = await Promise.all(
      Object.entries(jars).map(async ([name, bytes]) => (await stat(join(dir, name))).size === bytes),
    )
    return of === hash && sizes.length > 0 && sizes.every(Boolean)
  } catch {
    return false
  }
}

async function pomHash(): Promise<string> {
  return createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
}

async function waitForLock(
  path: string,
  onProgress: (message: string) => void,
  signal?: AbortSignal,
): Promise<() => Promise<void>> {
  for (let round = 0; ; round++) {
    const attempt = await tryLock(path)
    if (attempt.kind === 'acquired') return attempt.release
    if (round === 0) onProgress(`waiting for process ${attempt.pid}, which is fetching Apache Kafka`)
    if (signal?.aborted) throw interrupted()
    await wait(200)
  }
}
