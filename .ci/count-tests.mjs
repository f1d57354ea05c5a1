// node count-tests.mjs <directory> [failed step…]: adds up the JSON reports of vitest in the directory, names what
// failed, and ends with the line `N passed, N failed`. A failed step without a failed test counts as one failed.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

const [directory, ...failedSteps] = process.argv.slice(2)
const failures = []
let passed = 0

for (const file of readdirSync(directory)
  .filter((name) => name.endsWith('.json'))
  .toSorted()) {
  const report = JSON.parse(readFileSync(join(directory, file), 'utf8'))
  passed += report.numPassedTests
  for (const { name, status, assertionResults, message } of report.testResults) {
    const failed = assertionResults.filter((test) => test.status === 'failed').map((test) => test.fullName)
    // A file that cannot be loaded, or whose set-up fails, has no failed test of its own.
    if (status === 'failed' && failed.length === 0) failed.push(message.split('\n')[0] || 'could not be run')
    failures.push(...failed.map((test) => `${relative('', name)}: ${test}`))
  }
}

if (failures.length === 0) failures.push(...failedSteps.map((step) => step.trim()))
if (passed + failures.length === 0) failures.push('no test was run')

for (const failure of failures) console.log(`failed: ${failure}`)
// What the processes of a failed test said last: whoever reads only the end of this sees why it failed.
const said = join(directory, 'failures.txt')
if (existsSync(said)) {
  for (const line of readFileSync(said, 'utf8').split('\n')) console.log(line.slice(0, 240))
}
console.log(`${passed} passed, ${failures.length} failed`)
process.exitCode = failures.length === 0 ? 0 : 1
