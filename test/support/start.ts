import { spawn, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endLeftOverBroker, findKafkaWay } from '@barnabas/local-kafka'
import { runProcess } from './processes.ts'
import type { RunningProcess } from './processes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Whether `start` can run a broker of its own that a test may kill: that takes a JDK 17 and Maven. */
export async function canRunOwnBroker(): Promise<boolean> {
  const { KAFKA_BROKERS: _, BARNABAS_TEST_KAFKA: __, ...env } = process.env
  const hasJdk = await findKafkaWay({ env }).then(
    ({ kind }) => kind === 'jdk',
    () => false,
  )
  if (!hasJdk) console.warn('skipped: what kills a broker of its own takes a JDK 17 and Maven')
  return hasJdk
}

/** `start` with a broker of its own in a data directory. */
export interface OwnStart {
  readonly process: RunningProcess
  readonly pid: number
  /** What it says, without what else stands in the JSON lines. */
  messages(): readonly string[]
  /** Resolves when it says that it is ready; `at` is when. */
  ready(): Promise<{ readonly brokers: string; readonly at: number }>
  /** SIGKILL, and its end. The broker lives on. */
  kill(): Promise<void>
}

/** A data directory with its port. `remove` ends whatever broker still runs in it. */
export interface DataDir {
  readonly path: string
  readonly port: number
  readonly env: Readonly<Record<string, string>>
  /** Of the broker that runs in it. */
  brokerPid(): Promise<number>
  remove(): Promise<void>
}

export async function newDataDir(): Promise<DataDir> {
  const path = await mkdtemp(join(tmpdir(), 'barnabas-start-'))
  const port = await freePort()
  return {
    path,
    port,
    env: { BARNABAS_DATA_DIR: path, BARNABAS_KAFKA_PORT: String(port) },
    async brokerPid() {
      const { pid } = JSON.parse(await readFile(join(path, 'broker.json'), 'utf8')) as { readonly pid: number }
      return pid
    },
    async remove() {
      await endLeftOverBroker(path, 1_000)
      await rm(path, { recursive: true, force: true })
    },
  }
}

/** Small, and without the demo. */
export function startEnvironment(dataDir: DataDir): Record<string, string> {
  return {
    ...dataDir.env,
    BARNABAS_DEMO: 'false',
    BARNABAS_HTTP_PORT: '0',
    BARNABAS_PARTITIONS: '2',
    BARNABAS_TIER_PARTITIONS: '2',
    // A JVM that starts in half the time.
    JAVA_TOOL_OPTIONS: '-XX:+UseSerialGC -XX:TieredStopAtLevel=1',
  }
}

/** Runs `start` on the data directory; it speaks JSON, for it is on no terminal. */
export function startOn(dataDir: DataDir, env: Readonly<Record<string, string>> = {}): OwnStart {
  const running = runProcess('services/standalone/main.ts', { ...startEnvironment(dataDir), ...env })
  return {
    process: running,
    pid: running.child.pid ?? 0,
    messages: () => running.lines.map(messageOf),
    async ready() {
      const line = await running.line(/Barnabas is ready on/)
      const { time, msg } = JSON.parse(line) as { readonly time: string; readonly msg: string }
      return { brokers: msg.replace(/.*ready on /, ''), at: Date.parse(time) }
    },
    async kill() {
      await running.kill('SIGKILL')
    },
  }
}

/** The sentence of a JSON line of the log; any other line as it stands. */
export function messageOf(line: string): string {
  return line.startsWith('{') ? (JSON.parse(line) as { readonly msg: string }).msg : line
}

const givenPorts = new Set<number>()

/** A port that nobody listens at, another one each time: the system may give the same one twice in a row. */
export async function freePort(): Promise<number> {
  const taken = await takenPort()
  await taken.release()
  if (givenPorts.has(taken.port)) return freePort()
  givenPorts.add(taken.port)
  return taken.port
}

/** A port that stays taken until the returned function is called. */
export async function takenPort(): Promise<{ readonly port: number; release(): Promise<void> }> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { port, release: () => new Promise((resolve) => server.close(() => resolve())) }
}

/** A command on a terminal of its own, as util-linux's `script` gives one. */
export interface Terminal {
  /** All that was written to the terminal until now. */
  text(): string
  /** Resolves as soon as it matches; rejects when the command ends first. */
  until(matching: RegExp): Promise<void>
  /** Ctrl-C: the terminal sends SIGINT to every process in the foreground. */
  interrupt(): void
  /** The command's exit status. */
  readonly exited: Promise<number | null>
  kill(): void
}

export function hasTerminal(): boolean {
  return spawnSync('script', ['-qec', 'true', '/dev/null'], { stdio: 'ignore' }).status === 0
}

export function runOnTerminal(command: string, env: Readonly<Record<string, string>>): Terminal {
  const { PATH = '', HOME = '' } = process.env
  const child = spawn('script', ['-qefc', `exec ${command}`, '/dev/null'], {
    cwd: root,
    env: { PATH, HOME, NO_COLOR: '1', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let text = ''
  let hasEnded = false
  const waiters = new Set<() => void>()
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk.replaceAll('\r\n', '\n')
    for (const check of waiters) check()
  })
  const exited = new Promise<number | null>((resolve) => {
    child.on('close', (code) => {
      hasEnded = true
      for (const check of waiters) check()
      resolve(code)
    })
  })
  return {
    text: () => text,
    until(matching) {
      return new Promise((resolve, reject) => {
        const check = () => {
          const isThere = matching.test(text)
          if (!isThere && !hasEnded) return
          waiters.delete(check)
          if (isThere) resolve()
          else reject(new Error(`${command} ended without ${matching}:\n${text}`))
        }
        waiters.add(check)
        check()
      })
    },
    interrupt: () => void child.stdin.write('\x03'),
    exited,
    kill: () => void child.kill('SIGKILL'),
  }
}
