import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { signalMeaning } from './lifecycle.ts'

interface Child {
  readonly process: ChildProcessByStdio<null, Readable, Readable>
  /** Resolves once the line was written; rejects when the process ends without it. */
  said(line: string): Promise<void>
  /** Its own lines, its log, its errors and its exit status, once it has ended. */
  ended(): Promise<{ lines: string[]; log: LogLine[]; stderr: string; status: number | null; signal: string | null }>
}
interface LogLine {
  readonly level: number
  readonly msg: string
  readonly err?: { readonly message: string; readonly stack: string }
  readonly failedClosers?: string[]
  readonly part?: string
}

const children: Child[] = []
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.process.kill('SIGKILL')
    await child.ended()
  }
})

function service(...play: string[]): Child {
  const fixture = fileURLToPath(new URL('../fixtures/service.ts', import.meta.url))
  const running = spawn(process.execPath, [fixture, ...play], { stdio: ['ignore', 'pipe', 'pipe'] })
  const lines: string[] = []
  const waiting = new Map<string, () => void>()
  let stderr = ''
  running.stderr.on('data', (chunk) => (stderr += String(chunk)))
  createInterface(running.stdout).on('line', (line) => {
    lines.push(line)
    waiting.get(line)?.()
  })
  const closed = once(running, 'close') as Promise<[number | null, string | null]>
  const child: Child = {
    process: running,
    async said(line) {
      if (lines.includes(line)) return
      const said = new Promise<'said'>((resolve) => waiting.set(line, () => resolve('said')))
      if ((await Promise.race([said, closed])) !== 'said' && !lines.includes(line))
        throw new Error(`ended without ${JSON.stringify(line)}: ${lines.join('\n')}\n${stderr}`)
    },
    async ended() {
      const [status, signal] = await closed
      const isLog = (line: string): boolean => line.startsWith('{')
      const log = lines.filter(isLog).map((line) => JSON.parse(line) as LogLine)
      return { lines: lines.filter((line) => !isLog(line)), log, stderr, status, signal }
    },
  }
  children.push(child)
  return child
}

test.each<[number | null, number, ReturnType<typeof signalMeaning>]>([
  [null, 0, 'stop'],
  [5_000, 5_000, 'ignore'],
  [5_000, 5_999, 'ignore'],
  [5_000, 6_000, 'exit-at-once'],
  [5_000, 60_000, 'exit-at-once'],
])('first signal at %s, now %d: %s', (firstSignalAtMs, nowMs, meaning) => {
  expect(signalMeaning(firstSignalAtMs, nowMs)).toBe(meaning)
})

test.each(['SIGTERM', 'SIGINT'] as const)('%s stops in order and ends with status 0', async (signal) => {
  const child = service()
  await child.said('up')
  child.process.kill(signal)
  const ended = await child.ended()
  expect(ended).toMatchObject({
    status: 0,
    stderr: '',
    lines: ['up', `stopping for ${signal}`, 'closed second', 'closed first'],
  })
  expect(ended.log.map(({ msg }) => msg)).toEqual(['stopping', 'stopped'])
})

test('a signal that a package manager forwards again does not hurry the stop', async () => {
  const child = service('close-waits')
  await child.said('up')
  child.process.kill('SIGINT')
  await child.said('waiting')
  child.process.kill('SIGTERM')
  await child.said('got SIGTERM')
  child.process.kill('SIGUSR2')
  expect(await child.ended()).toMatchObject({
    status: 0,
    lines: ['up', 'stopping for SIGINT', 'waiting', 'got SIGTERM', 'closed second', 'closed first'],
  })
})

test('a second signal more than a second later ends at once with status 1, and the log says so', async () => {
  const child = service('close-hangs', 'late-signals')
  await child.said('up')
  child.process.kill('SIGTERM')
  await child.said('hanging')
  child.process.kill('SIGTERM')
  const ended = await child.ended()
  expect(ended).toMatchObject({ status: 1, signal: null, lines: ['up', 'stopping for SIGTERM', 'hanging'] })
  expect(ended.log.at(-1)).toMatchObject({ level: 60, msg: 'stopped at once by a second signal' })
})

test('what cannot be closed does not keep the rest open, and the status tells', async () => {
  const child = service('close-fails')
  await child.said('up')
  child.process.kill('SIGTERM')
  const ended = await child.ended()
  expect(ended).toMatchObject({ status: 1, lines: ['up', 'stopping for SIGTERM', 'closed first'] })
  expect(ended.log).toContainEqual(
    expect.objectContaining({ part: 'second', err: expect.objectContaining({ message: 'will not close' }) as unknown }),
  )
  expect(ended.log.at(-1)).toMatchObject({ msg: 'stopped', failedClosers: ['second'] })
})

test('a start-up error is one sentence, without a stack and without log lines', async () => {
  expect(await service('startup-error').ended()).toEqual({
    status: 1,
    signal: null,
    stderr: 'no broker: run `pnpm start` or set KAFKA_BROKERS\n',
    lines: ['stopping for failed to start', 'closed second', 'closed first'],
    log: [],
  })
})

test('any other error at start shows its stack, after what was open is closed', async () => {
  const ended = await service('defect').ended()
  expect(ended).toMatchObject({ status: 1, lines: ['stopping for failed to start', 'closed second', 'closed first'] })
  expect(ended.log).toHaveLength(1)
  expect(ended.log[0]).toMatchObject({ level: 60, msg: 'failed to start', err: { message: 'a defect of ours' } })
  expect(ended.log[0]?.err?.stack).toContain('service.ts')
})

test.each([
  ['rejects', 'unhandled rejection', 'nobody caught this'],
  ['throws', 'uncaught exception', 'nobody caught that'],
])('what nobody catches (%s) ends the process at once', async (play, msg, message) => {
  const ended = await service(play).ended()
  expect(ended).toMatchObject({ status: 1, lines: ['up'] })
  expect(ended.log).toEqual([
    expect.objectContaining({ level: 60, msg, err: expect.objectContaining({ message }) as unknown }),
  ])
})

test.each([
  ['stops', 0, 'the demo is over'],
  ['stops-failed', 1, 'the broker died'],
])('a stop from inside (%s) ends with status %d', async (play, status, reason) => {
  expect(await service(play).ended()).toMatchObject({
    status,
    lines: [`stopping for ${reason}`, 'up', 'closed second', 'closed first'],
  })
})

test.each(['starts-for-ever', 'start-cut-off'])('a signal during start-up (%s) closes what is open', async (play) => {
  const child = service(play)
  await child.said('up')
  child.process.kill('SIGTERM')
  expect(await child.ended()).toMatchObject({
    status: 0,
    stderr: '',
    lines: ['up', 'stopping for SIGTERM', 'closed second', 'closed first'],
  })
})
