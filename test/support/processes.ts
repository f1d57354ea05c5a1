import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A process of ours that a test runs, and what it says line by line. */
export interface RunningProcess {
  readonly child: ChildProcess
  readonly lines: readonly string[]
  /** Resolves with the first line, past or to come, that matches; rejects when the process ends without one. */
  line(matching: RegExp): Promise<string>
  kill(signal: NodeJS.Signals): Promise<number | null>
  readonly exited: Promise<number | null>
}

/** All that this file has started. */
export const startedProcesses: RunningProcess[] = []

/** Runs an entry point of the repository as the scripts of package.json do, with this Node and the given environment beside PATH and HOME. */
export function runProcess(entry: string, env: Record<string, string>, args: readonly string[] = []): RunningProcess {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn(process.execPath, ['--import', './scripts/require-node.mjs', entry, ...args], {
    cwd: root,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  const waiters = new Set<() => void>()
  let hasEnded = false
  function heard(line: string): void {
    lines.push(line)
    for (const check of waiters) check()
  }
  createInterface({ input: child.stdout }).on('line', heard)
  createInterface({ input: child.stderr }).on('line', heard)
  const exited = new Promise<number | null>((resolve) => {
    child.on('close', (code) => {
      hasEnded = true
      for (const check of waiters) check()
      resolve(code)
    })
  })
  const started: RunningProcess = {
    child,
    lines,
    exited,
    line(matching) {
      return new Promise((resolve, reject) => {
        const check = () => {
          const found = lines.find((line) => matching.test(line))
          if (found === undefined && !hasEnded) return
          waiters.delete(check)
          if (found === undefined) reject(new Error(`${entry} ended without ${matching}:\n${lines.join('\n')}`))
          else resolve(found)
        }
        waiters.add(check)
        check()
      })
    },
    kill(signal) {
      child.kill(signal)
      return exited
    },
  }
  startedProcesses.push(started)
  return started
}
