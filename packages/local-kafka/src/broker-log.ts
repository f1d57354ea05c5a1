import { open } from 'node:fs/promises'
import { LocalKafkaError, type LocalKafkaErrorCode } from './local-kafka-error.ts'

const tailBytesMax = 64 << 10

/** What was written to the file from byte `from` on, at most its last 64 KiB; empty when it cannot be read. */
export async function logTail(path: string, from: number): Promise<string> {
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    // A smaller file than before was started anew by the rotation.
    const start = Math.max(size < from ? 0 : from, size - tailBytesMax)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
    return buffer.toString('utf8', 0, bytesRead)
  } catch {
    return ''
  }
}

/** The lines that say why, at most `count`: errors with the exceptions below them, else simply the last lines. */
export function lastErrorLines(log: string, count: number): string[] {
  const lines = log.split('\n').filter((line) => line.trim() !== '' && !/^\s+at /.test(line))
  const errors = lines.filter((line) => /\b(ERROR|FATAL)\b|^(Caused by: )?[\w.$]+(Exception|Error)\b|^Error/.test(line))
  return (errors.length > 0 ? errors : lines).slice(-count).map((line) => line.slice(0, 400))
}

/** What the broker's log says in its own words, in ours. The first that matches. */
const causes: readonly (readonly [RegExp, LocalKafkaErrorCode, string])[] = [
  [/Address already in use|BindException/, 'PortTaken', 'its port was taken by another process: start again'],
  [/No space left on device/, 'DiskFull', 'no space is left on the disk: free some and start again'],
  [/Failed to acquire lock on file/, 'DataDirInUse', 'another broker uses its data directory: end that one first'],
  [
    /MetadataVersion|metadata\.version|feature level|Unsupported.*version|meta\.properties/,
    'DataDirOfOtherVersion',
    'its data directory was written by another version of Kafka: use that one, or another data directory',
  ],
  [
    /Could not reserve enough space|insufficient memory|OutOfMemoryError/i,
    'BrokerDied',
    'there is not enough memory for it: free some, or lower its heap',
  ],
]

/** Why the broker ended, from what it logged since its start. */
export function brokerEndError(log: string, logFile: string, when: string): LocalKafkaError {
  const lines = lastErrorLines(log, 5)
  const text = lines.join('\n')
  const [, code, cause] = causes.find(([pattern]) => pattern.test(text)) ?? [null, 'BrokerDied' as const, null]
  const quoted = lines.length === 0 ? '' : `\n${lines.map((line) => `  ${line}`).join('\n')}`
  return new LocalKafkaError(
    code,
    `The local Kafka broker ended ${when}${cause === null ? '' : `: ${cause}`}. Its log is ${logFile}` +
      (quoted === '' ? '.' : `; it says:${quoted}`),
  )
}
