/** When a test fails: what the processes of its file said last, for a failure that cannot be seen again. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { startedProcesses } from './processes.ts'

const { TEST_RESULTS_DIR } = process.env

afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return
  const said = startedProcesses.map(
    ({ child, lines }) => `-- ${child.spawnargs.slice(1).join(' ')}:\n${lines.slice(-30).join('\n')}\n`,
  )
  console.log(said.join(''))
  // `.ci/run` repeats the end of it beside the name of the test.
  if (TEST_RESULTS_DIR !== undefined) {
    const warnings = startedProcesses.flatMap(({ lines }) => lines.filter((line) => !/"level":(10|20|30),/.test(line)))
    appendFileSync(join(TEST_RESULTS_DIR, 'failures.txt'), [task.name, ...warnings.slice(-4), ''].join('\n'))
  }
})
