import { spawn, spawnSync } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { openOutputFile } from './output-file.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** A process that the bench runs and may measure. */
export interface BenchProcess {
  /** CPU time of all its threads, user and system, in µs. */
  cpuMicros(): Promise<number>
  /** Resident memory in bytes. */
  residentBytes(): Promise<number>
  /**
   * Sends a message and resolves with the answer; without one, with the next that it sends by itself. One at a time.
   * Rejects when it ends first.
   */
  ask<T>(message?: object): Promise<T>
  /** SIGTERM, and its end; SIGKILL when that takes long. */
  stop(): Promise<void>
  /** SIGKILL, and its end. */
  kill(): Promise<void>
}

export interface BenchProcessOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** To the last core, if `taskset` is there. */
  readonly isPinned?: boolean
  /** Options of Node itself, such as `--cpu-prof`. */
  readonly nodeOptions?: readonly string[]
}

/** Whether measured processes can be pinned to one core. */
export const canPin = spawnSync('taskset', ['--version']).status === 0
export const pinnedCore = availableParallelism() - 1

const stopWithinMs = 20_000

/** Runs an entry point of this repository with this Node. */
export function runBenchProcess(entry: string, options: BenchProcessOptions = {}): BenchProcess {
  const { args = [], env = {}, isPinned = false, nodeOptions = [] } = options
  const { PATH = '', HOME = '' } = process.env
  const node = [process.execPath, ...nodeOptions, entry, ...args]
  const [command = '', ...rest] = isPinned && canPin ? ['taskset', '-c', String(pinnedCore), ...node] : node
  const output = openOutputFile()
  const child = spawn(command, rest, {
    cwd: root,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', output.fd, 'inherit', 'ipc'],
  })
  let isStopping = false
  const exited = new Promise<void>((resolve) => {
    child.on('close', (code) => {
      if (!isStopping) console.error(`${entry} ended with status ${code}:\n${output.tail()}`)
      output.close()
      resolve()
    })
  })
  return {
    cpuMicros: () => cpuMicrosOf(child.pid ?? 0),
    residentBytes: () => residentBytesOf(child.pid ?? 0),
    ask<T>(message?: object) {
      const answer = new Promise<T>((resolve) => child.once('message', (value) => resolve(value as T)))
      if (message !== undefined) child.send(message)
      const ended = exited.then((): never => {
        throw new Error(`${entry} has ended and does not answer`)
      })
      return Promise.race([answer, ended])
    },
    async stop() {
      isStopping = true
      child.kill('SIGTERM')
      const late = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
      await exited
      clearTimeout(late)
    },
    kill() {
      isStopping = true
      child.kill('SIGKILL')
      return exited
    },
  }
}

/** From the scheduler, in ns and thread by thread; /proc/<pid>/stat counts in ticks of 10 ms. */
async function cpuMicrosOf(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`)
  const nanos = await Promise.all(
    threads.map(async (thread) => {
      const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').catch(() => '0')
      return Number(text.split(' ')[0])
    }),
  )
  return nanos.reduce((sum, each) => sum + each, 0) / 1_000
}

/** Rejects when it has ended. */
export async function residentBytesOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1_024
}
