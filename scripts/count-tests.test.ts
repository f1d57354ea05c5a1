import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const passing = { status: 'passed', fullName: 'adds' }
const failing = { status: 'failed', fullName: 'subtracts' }
const file = (name: string, assertionResults: readonly object[], message = '') => ({
  name: join(process.cwd(), name),
  status: message !== '' || assertionResults.includes(failing) ? 'failed' : 'passed',
  assertionResults,
  message,
})
const report = (numPassedTests: number, ...testResults: readonly object[]) => ({ numPassedTests, testResults })

test.each([
  {
    what: 'two runs are added up',
    reports: [report(1, file('a.test.ts', [passing])), report(2, file('b.test.ts', [passing, passing]))],
    steps: [],
    lines: ['3 passed, 0 failed'],
  },
  {
    what: 'a failed test is named, and its step is not counted besides',
    reports: [report(1, file('a.test.ts', [passing, failing]))],
    steps: ['test (exit status 1)'],
    lines: ['failed: a.test.ts: subtracts', '1 passed, 1 failed'],
  },
  {
    what: 'what the processes of a failed test said is repeated, before the last line',
    reports: [report(1, file('a.test.ts', [passing, failing]))],
    said: 'subtracts\nkafka went away',
    steps: [],
    lines: ['failed: a.test.ts: subtracts', 'subtracts', 'kafka went away', '1 passed, 1 failed'],
  },
  {
    what: 'a file that cannot be loaded counts as one failed',
    reports: [report(1, file('a.test.ts', [passing]), file('b.test.ts', [], 'no such module\n at …'))],
    steps: ['test (exit status 1)'],
    lines: ['failed: b.test.ts: no such module', '1 passed, 1 failed'],
  },
  {
    what: 'a step that fails although every test passes counts as one failed',
    reports: [report(1, file('a.test.ts', [passing]))],
    steps: ['test (exit status 1) in check:lint'],
    lines: ['failed: test (exit status 1) in check:lint', '1 passed, 1 failed'],
  },
  { what: 'no test is no success', reports: [], steps: [], lines: ['failed: no test was run', '0 passed, 1 failed'] },
])('$what', ({ reports, said, steps, lines }) => {
  const directory = mkdtempSync(join(tmpdir(), 'count-tests-'))
  reports.forEach((each, index) => writeFileSync(join(directory, `${index}.json`), JSON.stringify(each)))
  if (said !== undefined) writeFileSync(join(directory, 'failures.txt'), said)
  const { stdout, status } = spawnSync(process.execPath, ['.ci/count-tests.mjs', directory, ...steps], {
    encoding: 'utf8',
    cwd: join(import.meta.dirname, '..'),
  })
  rmSync(directory, { recursive: true })
  expect(stdout.trimEnd().split('\n')).toEqual(lines)
  expect(status).toBe(lines.at(-1)?.endsWith(' 0 failed') ? 0 : 1)
})
