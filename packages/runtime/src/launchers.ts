import { readFileSync } from 'node:fs'

/**
 * The package manager and the shells between it and us. They do not pass on a signal that only one of them gets
 * (`npx` ends at SIGTERM and its shell with it, and what that shell started lives on), so we look whether they are
 * still there.
 */
export interface Launchers {
  /** Whether each process that launched us is still there. */
  areAlive(): boolean
}

/** How a process looks in `/proc`; null when there is none, or no `/proc`. */
export type ReadProcess = (pid: number) => {
  readonly parent: number
  readonly commandLine: string
  /** Tells it from a later process with the same id. */
  readonly startedAt: string
} | null

const launcherPattern = /(?:^|[/\s"'])(?:npx|npm|pnpm)(?:\.c?js)?(?:[\s'"@]|$)|^(?:\/\S*\/)?sh\s+(?:-c|\S*\/\.bin\/)/

/**
 * Follows the parents of `pid` for as long as they are package managers or their shells; null when there are none
 * (somebody runs `node` directly: who ends that process signals it) or the machine has no `/proc`.
 */
export function findLaunchers(parentPid: number, read: ReadProcess = readProc): Launchers | null {
  const launchers: { readonly pid: number; readonly startedAt: string }[] = []
  for (let pid = parentPid; pid > 1;) {
    const found = read(pid)
    if (found === null || !launcherPattern.test(found.commandLine)) break
    launchers.push({ pid, startedAt: found.startedAt })
    pid = found.parent
  }
  if (launchers.length === 0) return null
  return {
    areAlive: () => launchers.every(({ pid, startedAt }) => read(pid)?.startedAt === startedAt),
  }
}

function readProc(pid: number): ReturnType<ReadProcess> {
  try {
    // "pid (name) state parent …", the start time is the 22nd; the name may hold anything, parentheses too.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const [parent, startedAt] = [Number(fields[1]), fields[19] ?? '']
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { parent, commandLine, startedAt }
  } catch {
    return null
  }
}
