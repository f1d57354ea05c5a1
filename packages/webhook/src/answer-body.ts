import type { Readable } from 'node:stream'

export interface AnswerBodyLimits {
  /** How much of the body is kept. */
  readonly keptBytesMax: number
  /** How much is read at most, so that the connection can be used again; a longer body ends the connection. */
  readonly readBytesMax: number
  /** How long the body is read at most; one that drips or hangs ends the connection. */
  readonly readMsMax: number
}

export interface AnswerBody {
  /** The beginning of the body as far as it came, as soon as no more is kept; null for none. Never rejects. */
  readonly beginning: Promise<Buffer | null>
  /** Resolves when the connection is free again or destroyed. Never rejects. */
  readonly finished: Promise<void>
}

/**
 * Reads an answer's body within limits. A body that is cut, hangs or never ends is no failure: the status decided
 * when the head was there (interface, "Outcomes").
 */
export function readAnswerBody(body: Readable, limits: AnswerBodyLimits, signal: AbortSignal): AnswerBody {
  const beginning = Promise.withResolvers<Buffer | null>()
  const finished = Promise.withResolvers<void>()
  const kept: Buffer[] = []
  let readBytes = 0

  const deliver = (): void => {
    // A copy of its own: the chunks are slices of far larger buffers of the socket.
    const bytes = Buffer.concat(kept, Math.min(readBytes, limits.keptBytesMax))
    beginning.resolve(bytes.length === 0 ? null : bytes)
  }
  const giveUp = (): void => {
    body.destroy()
  }
  const timer = setTimeout(giveUp, limits.readMsMax)
  signal.addEventListener('abort', giveUp, { once: true })

  body.on('data', (chunk: Buffer) => {
    if (readBytes < limits.keptBytesMax) kept.push(chunk)
    readBytes += chunk.length
    if (readBytes >= limits.keptBytesMax) deliver()
    if (readBytes > limits.readBytesMax) giveUp()
  })
  // 'close' follows, whether the body ended, failed or was given up.
  body.on('error', () => {})
  body.on('close', () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', giveUp)
    deliver()
    finished.resolve()
  })
  return { beginning: beginning.promise, finished: finished.promise }
}
