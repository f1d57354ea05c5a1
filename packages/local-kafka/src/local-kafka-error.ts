/** Everything for which a local broker can be refused. Closed: whoever catches can switch over it. */
export const localKafkaErrorCodes = [
  'NoKafka',
  'JavaMissing',
  'JavaTooOld',
  'MavenFailed',
  'DataDirUnusable',
  'DataDirInUse',
  'DataDirOfOtherVersion',
  'PortTaken',
  'DiskFull',
  'BrokerDied',
  'BrokerSilent',
  'ContainerFailed',
  'Aborted',
] as const

export type LocalKafkaErrorCode = (typeof localKafkaErrorCodes)[number]

/** `message` is a sentence for people: what is wrong, with the value, and what mends it. */
export class LocalKafkaError extends Error {
  override readonly name = 'LocalKafkaError'
  readonly code: LocalKafkaErrorCode

  constructor(code: LocalKafkaErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The `code` of a system error ("EACCES"), null for anything else. */
export function systemErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null
}

/** A failed read or write in the data directory or the cache, as the sentence that a person needs. */
export function fileError(path: string, error: unknown): LocalKafkaError {
  const code = systemErrorCode(error)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return diskFull(path, error)
  }
  const reason = error instanceof Error ? error.message : String(error)
  return new LocalKafkaError(
    'DataDirUnusable',
    `${path} cannot be used (${reason}): make it writable for this user, or name another directory.`,
    { cause: error },
  )
}

export function diskFull(path: string, cause?: unknown): LocalKafkaError {
  return new LocalKafkaError('DiskFull', `No space is left on the disk of ${path}: free some and start again.`, {
    cause,
  })
}

/** A start that its caller's signal cut off. */
export function interrupted(): LocalKafkaError {
  return new LocalKafkaError('Aborted', 'Starting the local Kafka broker was interrupted.')
}
