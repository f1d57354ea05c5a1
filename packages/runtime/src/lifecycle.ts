import { createCloseStack, type CloseLog, type CloseStack } from './close-stack.ts'
import { findLaunchers } from './launchers.ts'
import { createLogger } from './logger.ts'
import { returnMemoryAfterBursts } from './memory-return.ts'
import { StartupError } from './startup-error.ts'
import { boundYoungGeneration } from './young-generation.ts'

/**
 * The life of a process:
 *
 *     main runs ──► up ──► SIGTERM, SIGINT or stop() ──► closers in reverse order ──► exit 0 (1 if one failed)
 *        │                                                   a second signal ──► exit 1 at once
 *        ├─ a signal meanwhile: main gets `startGraceMs` to notice `stopping`, then the closers follow
 *        └─ throws: closers, then exit 1 with the message of a `StartupError` or with the stack of anything else
 *
 * An exception that nobody caught ends the process at once with status 1: its state is unknown, and what was not
 * durable is delivered again by the next one.
 */
export interface ServiceProcess {
  /** What was opened; closed in reverse order when the process stops. */
  readonly closers: CloseStack
  /** Aborted when the stop begins; the reason is a word such as `SIGTERM`. */
  readonly stopping: AbortSignal
  /** Begins the ordered stop from inside; `exitStatus` 1 when what happened is a failure. */
  readonly stop: (reason: string, exitStatus?: 0 | 1) => void
  /** From now on the life of the process is told here; before, in JSON on standard output. */
  readonly logTo: (logger: ProcessLog) => void
}

export interface ProcessLog extends CloseLog {
  info(fields: object, message: string): void
  fatal(fields: object, message: string): void
}

export interface RunOptions {
  /** Monotonic milliseconds; given by tests. */
  readonly nowMs?: () => number
  /** How long `main` may go on after a stop that came while it was starting; default 2 s. */
  readonly startGraceMs?: number
}

const lookAtLaunchersMs = 1_000

/** Runs `main`, which resolves once the service is up, and ends the process when it is to stop. */
export async function runService(
  name: string,
  main: (service: ServiceProcess) => Promise<void>,
  options: RunOptions = {},
): Promise<never> {
  const nowMs = options.nowMs ?? (() => performance.now())
  let log: ProcessLog = createLogger({ service: name, level: 'info' })
  // Looked up at each line, because `logTo` may come at any time.
  const closers = createCloseStack({
    debug: (fields, message) => log.debug(fields, message),
    error: (fields, message) => log.error(fields, message),
  })
  const stopping = new AbortController()
  const stopped = new Promise<void>((resolve) => stopping.signal.addEventListener('abort', () => resolve()))
  let exitStatus: 0 | 1 = 0

  const stop = (reason: string, status: 0 | 1 = 0): void => {
    if (status === 1) exitStatus = 1
    if (stopping.signal.aborted) return
    log.info({ reason }, 'stopping')
    stopping.abort(reason)
  }
  const die = (message: string) => (error: unknown) => {
    log.fatal({ err: error }, message)
    process.exit(1)
  }
  process.on('uncaughtException', die('uncaught exception'))
  process.on('unhandledRejection', die('unhandled rejection'))

  let firstSignalAtMs: number | null = null
  const onSignal = (signal: NodeJS.Signals): void => {
    const meaning = signalMeaning(firstSignalAtMs, nowMs())
    if (meaning === 'exit-at-once') {
      log.fatal({ signal }, 'stopped at once by a second signal')
      process.exit(1)
    }
    if (meaning === 'ignore') return
    firstSignalAtMs = nowMs()
    stop(signal)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  // A terminal that is closed ends us in order too; without one, SIGHUP keeps what `nohup` made of it.
  if (process.stdout.isTTY) process.on('SIGHUP', onSignal)
  const launchers = findLaunchers(process.ppid)
  const watchLaunchers = setInterval(() => {
    if (launchers?.areAlive() === false) stop('the package manager that started this process has ended')
  }, lookAtLaunchersMs)

  boundYoungGeneration()
  returnMemoryAfterBursts()
  // Something that holds the process up while everything else waits for an event; a promise alone does not.
  const alive = setInterval(() => {}, 2 ** 30)
  const mainEnded = main({ closers, stopping: stopping.signal, stop, logTo: (logger) => (log = logger) }).then(
    () => null,
    (error: unknown) => ({ error }),
  )
  const failure = await Promise.race([mainEnded, stopped.then(() => within(mainEnded, options.startGraceMs ?? 2_000))])
  if (failure !== null && stopping.signal.aborted) {
    log.debug({ err: failure.error }, 'start-up was cut off by the stop')
  } else if (failure !== null) {
    exitStatus = 1
    tellFailure(failure.error, log)
    stopping.abort('failed to start')
  }
  await stopped
  const failedClosers = await closers.closeAll()
  clearInterval(alive)
  clearInterval(watchLaunchers)
  // After a failed start the one sentence stays the last thing that a person sees.
  if (failure === null) log.info(failedClosers.length > 0 ? { failedClosers } : {}, 'stopped')
  process.exit(failedClosers.length > 0 ? 1 : exitStatus)
}

/**
 * What a signal means. Package managers forward a signal that the terminal has already sent to everybody, so a
 * second one within a second is the same wish, and only a later one is impatience.
 */
export function signalMeaning(firstSignalAtMs: number | null, nowMs: number): 'stop' | 'ignore' | 'exit-at-once' {
  if (firstSignalAtMs === null) return 'stop'
  return nowMs - firstSignalAtMs < 1_000 ? 'ignore' : 'exit-at-once'
}

function tellFailure(error: unknown, log: ProcessLog): void {
  if (error instanceof StartupError) process.stderr.write(`${error.message}\n`)
  else log.fatal({ err: error }, 'failed to start')
}

async function within<T>(promise: Promise<T>, limitMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), limitMs)
  })
  try {
    return await Promise.race([promise, limit])
  } finally {
    clearTimeout(timer)
  }
}
