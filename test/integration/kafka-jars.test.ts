import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { kafkaJars } from '@barnabas/local-kafka'

// A stand-in for Maven, so that the cache can be tried without fetching 45 MB each time. It counts its runs.
const maven = `#!/bin/sh
echo run >> "$RUNS"
for argument; do case "$argument" in -DoutputDirectory=*) out="\${argument#*=}";; esac; done
printf 'whole jar' > "$out/a.jar"
`

test('jars are fetched once, and again when one of them is damaged', async () => {
  const { env, runs } = await cache(maven)
  const messages: string[] = []
  const dir = await kafkaJars(env, (message) => messages.push(message))
  expect(messages).toEqual([expect.stringMatching(/^fetching Apache Kafka .*\(about 45 MB, once\)/)])
  expect(await kafkaJars(env, () => undefined)).toBe(dir)
  expect(await runs()).toBe(1)

  await truncate(join(dir, 'a.jar'), 4)
  await kafkaJars(env, () => undefined)
  expect(await runs()).toBe(2)
  expect(await readFile(join(dir, 'a.jar'), 'utf8')).toBe('whole jar')
})

test('of several that ask at once one fetches, and all get the same', async () => {
  const { env, runs } = await cache(maven)
  const dirs = await Promise.all([1, 2, 3].map(() => kafkaJars(env, () => undefined)))
  expect(new Set(dirs).size).toBe(1)
  expect(await runs()).toBe(1)
})

test('a fetch that was cut off leaves nothing that the next one takes for whole', async () => {
  // This Maven kills whoever called it when it has written half of a jar.
  const { env, root } = await cache(`${maven}printf half > "$out/a.jar"\nkill -9 $PPID\n`)
  const code = "import { kafkaJars } from '@barnabas/local-kafka'; await kafkaJars(process.env, () => undefined)"
  const cwd = fileURLToPath(new URL('..', import.meta.url))
  const fetching = spawn(process.execPath, ['--input-type=module', '-e', code], { env, cwd, stdio: 'inherit' })
  expect(await once(fetching, 'exit')).toEqual([null, 'SIGKILL'])
  expect(await readdir(join(root, 'barnabas'))).toContainEqual(expect.stringContaining('partial'))

  await writeFile(join(root, 'mvn'), maven)
  const dir = await kafkaJars(env, () => undefined)
  expect(await readFile(join(dir, 'a.jar'), 'utf8')).toBe('whole jar')
  expect(await readdir(join(root, 'barnabas'))).toEqual([expect.stringMatching(/^kafka-[\d.]+$/)])
})

test('when Maven fails its last lines are told', async () => {
  const { env } = await cache('#!/bin/sh\necho "[ERROR] Could not transfer artifact"\nexit 1\n')
  const fetching = kafkaJars(env, () => undefined)
  await expect(fetching).rejects.toMatchObject({ code: 'MavenFailed' })
  await expect(fetching).rejects.toThrow('[ERROR] Could not transfer artifact')
})

async function cache(script: string) {
  const root = await mkdtemp(join(tmpdir(), 'barnabas-kafka-jars-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  await writeFile(join(root, 'mvn'), script)
  await chmod(join(root, 'mvn'), 0o755)
  const log = join(root, 'runs.txt')
  const env = { ...process.env, XDG_CACHE_HOME: root, RUNS: log, PATH: `${root}:${process.env['PATH'] ?? ''}` }
  return { env, root, runs: async () => (await readFile(log, 'utf8')).trim().split('\n').length }
}
