import { writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/**
 * Where log lines go. A line is written at once, while the caller waits, so that a `kill -9` finds nothing unwritten;
 * but a pipe whose reader is slow holds up nobody:
 *
 *     write ──► taken whole ──────────────────────────────► written
 *        └────► the pipe is full ──► waits in memory ──► looks again every few ms, in the order of the lines
 *                                       └─ too much of it: whoever logs waits for the reader
 *
 * pino's own destination sleeps 100 ms at a time, and the process with it, or writes from another thread, where an exit
 * loses what is under way.
 */
export interface LogOutput extends DestinationStream {
  /**
   * Writes what waits, while everything else stands still: before an exit, and after a line at level fatal. Gives up
   * when the reader takes nothing for 5 s.
   */
  flushSync(): void
}

/** The end of a pipe or file. */
export interface LogEnd {
  /** Writes what it can without waiting: how many bytes; 0 when it is full. Throws when nothing can be written any more. */
  readonly write: (bytes: Uint8Array) => number
  /** Sleeps, and the process with it. */
  readonly sleep: (ms: number) => void
  /** Calls back once, later. */
  readonly later: (callback: () => void, ms: number) => void
}

const waitingBytesMax = 4 * 1024 * 1024
const lookAgainMs = 5
const giveUpMs = 5_000

export function createLogOutput(end: LogEnd): LogOutput {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  let looksAgain = false
  let isBroken = false

  /** Writes as much as is taken, and keeps the rest. */
  function writeOut(): void {
    try {
      while (waitingBytes > 0) {
        const bytes = waiting.length === 1 ? waiting[0]! : Buffer.concat(waiting)
        const written = end.write(bytes)
        waitingBytes -= written
        waiting = waitingBytes === 0 ? [] : [bytes.subarray(written)]
        if (written === 0) return
      }
    } catch {
      // Its reader has gone, the disk is full: no reason to deliver nothing any more.
      isBroken = true
      waiting = []
      waitingBytes = 0
    }
  }

  function lookAgain(): void {
    if (looksAgain || waitingBytes === 0) return
    looksAgain = true
    end.later(() => {
      looksAgain = false
      writeOut()
      lookAgain()
    }, lookAgainMs)
  }

  function waitUntil(bytes: number): void {
    for (let since = 0; waitingBytes > bytes && since < giveUpMs; since += lookAgainMs) {
      const before = waitingBytes
      writeOut()
      if (waitingBytes < before) since = 0
      if (waitingBytes > bytes) end.sleep(lookAgainMs)
    }
  }

  return {
    write(text) {
      if (isBroken) return
      const hasRoom = waitingBytes === 0
      const bytes = Buffer.from(text)
      waiting.push(bytes)
      waitingBytes += bytes.length
      if (hasRoom) writeOut()
      else if (waitingBytes > waitingBytesMax) waitUntil(waitingBytesMax / 2)
      lookAgain()
    },
    flushSync: () => waitUntil(0),
  }
}

let output: LogOutput | undefined

/** One for the whole process: two would write into each other's lines. */
export function standardOutput(): LogOutput {
  if (output !== undefined) return output
  // Node puts a pipe that it uses itself into the mode in which a full one says so.
  void process.stdout.fd
  const opened = createLogOutput({
    write: writeToStandardOutput,
    sleep: (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
    later: (callback, ms) => setTimeout(callback, ms).unref(),
  })
  process.on('exit', () => opened.flushSync())
  output = opened
  return opened
}

function writeToStandardOutput(bytes: Uint8Array): number {
  try {
    return writeSync(1, bytes)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return 0
    throw error
  }
}
