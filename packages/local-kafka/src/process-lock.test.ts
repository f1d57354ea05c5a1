import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { isHeld, parseLock, tryLock } from './process-lock.ts'
import { linuxIdentity, processIdentity } from './processes.ts'

test.each([
  ['its holder runs', 'boot/100', true],
  ['no process has its pid', null, false],
  ['another process has its pid by now', 'boot/200', false],
  ['the machine was started anew', 'other-boot/100', false],
])('a lock whose state is "%s" is held: %s', (_, running, held) => {
  expect(isHeld({ pid: 4711, identity: 'boot/100' }, running)).toBe(held)
})

test('a lock is taken once, and again after its release', async () => {
  const { path } = await lockPath()
  const first = await tryLock(path)
  expect(await tryLock(path)).toEqual({ kind: 'held', pid: process.pid })
  if (first.kind === 'acquired') await first.release()
  expect((await tryLock(path)).kind).toBe('acquired')
})

test('a second release leaves the lock of the next holder alone', async () => {
  const { path } = await lockPath()
  const first = await tryLock(path)
  if (first.kind !== 'acquired') throw new Error('not acquired')
  await first.release()
  await tryLock(path)
  await first.release()
  expect((await tryLock(path)).kind).toBe('held')
})

test.each([
  ['a process that is gone', JSON.stringify({ pid: 2 ** 30, identity: 'boot/1' })],
  ['a process whose pid is another one’s by now', JSON.stringify({ pid: process.pid, identity: 'boot/1' })],
  ['damage', '{"pid":'],
  ['nothing', ''],
])('a lock file left by %s is taken over', async (_, text) => {
  const { path, dir } = await lockPath()
  await writeFile(path, text)
  expect((await tryLock(path)).kind).toBe('acquired')
  expect(parseLock(await readFile(path, 'utf8'))).toEqual({
    pid: process.pid,
    identity: await processIdentity(process.pid),
  })
  expect(await readdir(dir)).toEqual(['lock'])
})

test('of many at once exactly one gets the lock, stale or not', async () => {
  const { path } = await lockPath()
  await writeFile(path, JSON.stringify({ pid: 2 ** 30, identity: 'boot/1' }))
  const attempts = await Promise.all(Array.from({ length: 20 }, () => tryLock(path)))
  expect(attempts.filter(({ kind }) => kind === 'acquired')).toHaveLength(1)
})

test('a process is known by the start time behind its name, and a zombie is none', () => {
  const fields = Array.from({ length: 40 }, (_, index) => String(index + 4)).join(' ')
  // Field 22 of proc(5); the name may hold spaces and parentheses.
  expect(linuxIdentity(`4711 (java (x) y) S ${fields}`, 'boot')).toBe('boot/22')
  expect(linuxIdentity(`4711 (java) Z ${fields}`, 'boot')).toBeNull()
})

async function lockPath(): Promise<{ path: string; dir: string }> {
  const dir = await mkdtemp(join(tmpdir(), 'barnabas-lock-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  return { path: join(dir, 'lock'), dir }
}
