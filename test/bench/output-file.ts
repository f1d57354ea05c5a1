import { randomUUID } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync, unlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * Where a measured process writes what it says. A file and not a pipe to the bench: whoever fills a pipe faster than
 * the bench reads keeps what is too much and looks again and again, and that would be measured too.
 */
export interface OutputFile {
  readonly fd: number
  /** The end of what was written. */
  tail(): string
  close(): void
}

const tailBytes = 4_000

/** Nobody else sees it, and it goes with the last process that has it open. */
export function openOutputFile(): OutputFile {
  const path = join(tmpdir(), `barnabas-bench-${randomUUID()}.log`)
  const fd = openSync(path, 'wx+', 0o600)
  unlinkSync(path)
  return {
    fd,
    tail() {
      const { size } = fstatSync(fd)
      const bytes = Buffer.alloc(Math.min(size, tailBytes))
      readSync(fd, bytes, 0, bytes.length, size - bytes.length)
      return bytes.toString()
    },
    close: () => closeSync(fd),
  }
}
