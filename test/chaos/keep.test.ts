/** What is kept of a run can be read again, however long it was. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { keepRun } from './keep.ts'
import type { ChaosResult } from './run.ts'
import { summaryOf } from './summary.ts'

test('a run is kept as one file of JSON lines for each part of its ledger, and a log for each life of a service', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'barnabas-keep-'))
  onTestFinished(() => rm(parent, { recursive: true }))
  const attempt = { id: '0', number: 1, together: 1, at: 5, notBefore: 4, answeredAt: 6, closedAt: null, status: 200 }
  const ledger: ChaosResult['ledger'] = {
    policy: { delaysMs: [500], maxAttempts: 4, timeoutMs: 1_000 },
    sent: new Map([
      ['0', { copies: 1, fate: { kind: 'ok' } }],
      ['1', { copies: 1, fate: { kind: 'ok' } }],
    ]),
    attempts: [attempt, { ...attempt, number: 2 }],
    letters: [],
    windows: [{ kind: 'kill-retrier', from: 1, to: 9 }],
    endings: [{ service: 'retrier', pid: 16, status: 1, at: 2, backAt: 3, lastLine: 'one' }],
  }
  const result: ChaosResult = {
    ledger,
    violations: [{ id: '1', rule: 'lost', message: 'not there' }],
    summary: summaryOf(ledger, 1, 1),
    logs: [{ service: 'retrier', pid: 17, lines: ['one', 'two'] }],
  }

  const folder = await keepRun(parent, 3, result)

  const linesOf = async (name: string): Promise<unknown[]> =>
    (await readFile(join(folder, name), 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown)
  expect(folder).toBe(join(parent, 'seed-3'))
  expect(await linesOf('attempts.jsonl')).toEqual(ledger.attempts)
  expect(await linesOf('letters.jsonl')).toEqual([])
  expect(await linesOf('windows.jsonl')).toEqual(ledger.windows)
  expect(await linesOf('endings.jsonl')).toEqual(ledger.endings)
  expect(await linesOf('violations.jsonl')).toEqual(result.violations)
  expect(await linesOf('sent.jsonl')).toEqual([...ledger.sent].map(([id, sent]) => ({ id, ...sent })))
  expect(await readFile(join(folder, 'retrier-17.log'), 'utf8')).toBe('one\ntwo')
  expect(await readdir(folder)).toHaveLength(7)
})
