import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeConfig } from './config.ts'
import { readEnvironment } from './environment.ts'
import { createSecrets } from './secrets.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'barnabas-secrets-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

function configOf(env: Record<string, string>) {
  const reading = readEnvironment(env, { kind: 'service' })
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  return reading
}

test('A20: a secret is its variable, else the file that is named for it, else the file of its name', () => {
  const dir = folder()
  writeFileSync(join(dir, 'ONE'), 'from the directory')
  writeFileSync(join(dir, 'TWO'), 'from the directory')
  writeFileSync(join(dir, 'THREE'), 'from the directory\n')
  writeFileSync(join(dir, 'named'), 'from the named file\r\n')
  const { config, warnings } = configOf({
    BARNABAS_SECRET_ONE: 'from the variable',
    BARNABAS_SECRET_TWO_FILE: join(dir, 'named'),
    BARNABAS_SECRETS_DIR: dir,
  })
  expect(warnings).toEqual([])
  const find = createSecrets(config.secrets, { now: () => 0 })
  expect(find('ONE')).toEqual({ kind: 'value', value: 'from the variable' })
  expect(find('TWO')).toEqual({ kind: 'value', value: 'from the named file' })
  expect(find('THREE')).toEqual({ kind: 'value', value: 'from the directory' })
  expect(find('FOUR')).toEqual({
    kind: 'unknown',
    message: expect.stringMatching(
      /^the secret FOUR is not known \(ENOENT.*\); set BARNABAS_SECRET_FOUR, or put/,
    ) as string,
  })
})

test('A20: no secret is in what is printed of the configuration', () => {
  const { config } = configOf({ BARNABAS_SECRET_ONE: 'hunter2', BARNABAS_SECRET_TWO_FILE: '/run/two' })
  const described = JSON.stringify(describeConfig(config))
  expect(described).not.toContain('hunter2')
  expect(described).toContain('"secrets":{"names":["ONE","TWO"],"dir":"none"}')
})

test('a secret that is given twice is a bad value', () => {
  expect(readEnvironment({ BARNABAS_SECRET_A: 'x', BARNABAS_SECRET_A_FILE: '/y' }, { kind: 'service' })).toEqual({
    kind: 'invalid',
    problems: ['BARNABAS_SECRET_A and BARNABAS_SECRET_A_FILE are both set; set only one of them.'],
  })
})

test('a file is read again after 10 s, and what was read last holds while it cannot be', () => {
  let now = 1_000_000
  let content: string | null = null
  const readFile = () => {
    if (content === null) throw new Error('gone')
    return content
  }
  const find = createSecrets({ values: {}, files: {}, dir: '/secrets' }, { now: () => now, readFile })
  const after = (ms: number) => {
    now += ms
    const found = find('KEY')
    return found.kind === 'value' ? found.value : null
  }
  expect(after(0)).toBeNull()
  content = 'first'
  expect(after(9_999)).toBeNull()
  expect(after(1)).toBe('first')
  content = 'second'
  expect(after(9_999)).toBe('first')
  expect(after(1)).toBe('second')
  content = null
  expect(after(10_000)).toBe('second')
  content = 'third'
  // The clock was set back.
  expect(after(-500_000)).toBe('third')
})

test('what is no file, or a large one, is not read', () => {
  const dir = folder()
  writeFileSync(join(dir, 'LARGE'), 'x'.repeat(65_537))
  symlinkSync('/dev/zero', join(dir, 'ENDLESS'))
  const find = createSecrets({ values: {}, files: {}, dir }, { now: () => 0 })
  expect(find('LARGE')).toMatchObject({ message: expect.stringContaining('has 65537 bytes') as string })
  expect(find('ENDLESS')).toMatchObject({ message: expect.stringContaining('is not a file') as string })
})
