import { join } from 'node:path'
import { LocalKafkaError, fileError } from './local-kafka-error.ts'
import { tryLock } from './process-lock.ts'

/** Makes this process the only one that works with the data directory. Throws `DataDirInUse`, naming who has it. */
export async function lockDataDir(dir: string): Promise<() => Promise<void>> {
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
