import './scripts/require-node.mjs'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** `.ci/run` counts the tests of every run from these files. */
const { TEST_RESULTS_DIR } = process.env
export default defineConfig({
  test: {
    reporters:
      TEST_RESULTS_DIR === undefined
        ? ['default']
        : ['default', ['json', { outputFile: join(TEST_RESULTS_DIR, `${process.pid}.json`) }]],
    // A broker and its clients share the machine with the tests: more files at once would only make each slower.
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: ['packages/**/src/**/*.test.ts', 'services/**/*.test.ts', 'scripts/*.test.ts'],
        },
      },
      {
        test: {
          name: 'kafka',
          include: ['test/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
})
