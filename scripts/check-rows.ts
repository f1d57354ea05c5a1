// `pnpm check:rows`: prints the rows of docs/requirements.md that no test proves, and fails on those that claim to work.
import { reportRepository } from './rows.ts'

const { unproved, noLongerLater, open } = reportRepository()
if (open.length > 0) console.log(`rows without a test, later as docs/requirements.md says: ${open.join(', ')}`)
for (const row of unproved) {
  console.error(`${row} works as docs/requirements.md says, but no test cites it (CONTRIBUTING.md, "Tests")`)
}
for (const row of noLongerLater) {
  console.error(`a test cites ${row}, which docs/requirements.md calls later: say yes or partly there`)
}
if (unproved.length + noLongerLater.length > 0) process.exitCode = 1
