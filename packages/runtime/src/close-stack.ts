/** Where the close stack tells what it does; a pino logger is one. */
export interface CloseLog {
  debug(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface CloseOptions {
  /** How long it may take before the next is closed; default 5 s, or 1 s once another did not close in time. */
  readonly limitMs?: number
}

/** What a process opened, in order; closed in reverse order. */
export interface CloseStack {
  /**
   * Registers what is open now. Once closing has begun (a stop during start-up) it is closed at once instead,
   * before `closeAll` ends if that is still under way.
   */
  add(name: string, close: () => void | Promise<void>, options?: CloseOptions): void
  /**
   * Closes everything, last opened first, one after another; goes on when one fails or takes too long. Never
   * rejects; the names of those that did not close are the result. Later calls give the same promise.
   */
  closeAll(): Promise<readonly string[]>
}

interface Closer {
  readonly name: string
  readonly close: () => void | Promise<void>
  readonly limitMs: number | undefined
}

const defaultLimitMs = 5_000
/** What one waited for in vain, a Kafka that is away above all, the others would wait for too. */
const limitAfterLateMs = 1_000

export function createCloseStack(log: CloseLog): CloseStack {
  const closers: Closer[] = []
  const failed: string[] = []
  let closing: Promise<readonly string[]> | null = null
  let isFinished = false
  let isOneLate = false

  const closeOne = async (closer: Closer): Promise<void> => {
    const limitMs = closer.limitMs ?? (isOneLate ? limitAfterLateMs : defaultLimitMs)
    const result = await closedWithin(closer.close, limitMs)
    if (result.kind === 'closed') return log.debug({ part: closer.name }, 'closed')
    failed.push(closer.name)
    isOneLate ||= result.kind === 'late'
    if (result.kind === 'failed') log.error({ part: closer.name, err: result.error }, 'could not be closed, going on')
    else log.error({ part: closer.name, limitMs }, 'did not close in time, going on')
  }
  const closeEach = async (): Promise<readonly string[]> => {
    for (let closer = closers.pop(); closer !== undefined; closer = closers.pop()) await closeOne(closer)
    isFinished = true
    return failed
  }
  return {
    add(name, close, options = {}) {
      const closer = { name, close, limitMs: options.limitMs }
      if (isFinished) void closeOne(closer)
      else closers.push(closer)
    },
    closeAll: () => (closing ??= closeEach()),
  }
}

type CloseResult = { kind: 'closed' } | { kind: 'failed'; error: unknown } | { kind: 'late' }

async function closedWithin(close: Closer['close'], limitMs: number): Promise<CloseResult> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<CloseResult>((resolve) => {
    timer = setTimeout(() => resolve({ kind: 'late' }), limitMs)
  })
  const closed = (async (): Promise<CloseResult> => {
    try {
      await close()
      return { kind: 'closed' }
    } catch (error) {
      return { kind: 'failed', error }
    }
  })()
  try {
    return await Promise.race([closed, late])
  } finally {
    clearTimeout(timer)
  }
}
