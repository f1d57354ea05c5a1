import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { youngGenerationBytesMax } from './young-generation.ts'

/** Prints the highest size of the young generation in a burst, its size after a full collection, and again in a burst. */
const program = `
  import v8 from 'node:v8'
  import vm from 'node:vm'
  import { boundYoungGeneration } from '${new URL('young-generation.ts', import.meta.url).href}'

  const size = () => v8.getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size
  async function burst() {
    let highest = 0
    for (let round = 0; round < 300; round += 1) {
      const kept = Array.from({ length: 20_000 }, (_, index) => ({ index, text: 'x' + index }))
      highest = Math.max(highest, size())
      await new Promise(setImmediate)
      kept.length = 0
    }
    return highest
  }
  boundYoungGeneration()
  v8.setFlagsFromString('--expose-gc')
  const first = await burst()
  vm.runInNewContext('gc')({ type: 'major', execution: 'sync', flavor: 'last-resort' })
  console.log(JSON.stringify({ first, idle: size(), second: await burst() }))
`

test('grows under load to its bound and no further, is given back, and grows again', { timeout: 60_000 }, async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  const { first, idle, second } = JSON.parse(stdout) as Record<string, number>
  for (const burst of [first, second]) {
    expect(burst).toBeGreaterThanOrEqual(youngGenerationBytesMax)
    // V8's own maximum is four times as much.
    expect(burst).toBeLessThanOrEqual(2 * youngGenerationBytesMax)
  }
  expect(idle).toBeLessThan(youngGenerationBytesMax / 4)
})
