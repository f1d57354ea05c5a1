import { join } from 'node:path'
import { openDataDir } from './data-dir.ts'
import { LocalKafkaError, fileError } from './local-kafka-error.ts'
import { tryLock } from './process-lock.ts'

/**
 * Starts a broker in the data directory, which no other process may work with until `release` is called: by what was
 * started, when it ends; here, when the start fails. Throws what the start throws, and `DataDirInUse`.
 */
export async function withDataDir<Started>(
  dataDir: string,
  start: (dir: string, release: () => Promise<void>) => Promise<Started>,
): Promise<Started> {
  const dir = await openDataDir(dataDir)
  const release = await lockDataDir(dir)
  try {
    return await start(dir, release)
  } catch (error) {
    await release()
    throw error
  }
}

/** Throws `DataDirInUse`, naming who has it. */
async function lockDataDir(dir: string): Promise<() => Promise<void>> {
  const lock = await tryLock(join(dir, 'start.lock')).catch((error: unknown) => {
    throw fileError(dir, error)
  })
  if (lock.kind === 'acquired') return lock.release
  throw new LocalKafkaError(
    'DataDirInUse',
    `The data directory ${dir} is in use by process ${lock.pid}: use the broker that it runs, stop it first ` +
      `(Ctrl-C, or kill ${lock.pid}), or name another directory with BARNABAS_DATA_DIR.`,
  )
}
