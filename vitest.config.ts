import './scripts/require-node.mjs'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'

/** `.ci/run` counts the tests of every run from these files. */
const { TEST_RESULTS_DIR } = process.env
const onKafka = {
  globalSetup: ['test/support/global-setup.ts'],
  setupFiles: ['test/support/tell-of-failures.ts'],
  testTimeout: 60_000,
  hookTimeout: 120_000,
}

/** Whatever fills a machine of two cores by itself: beside others it would only be slow, and make them slow. */
const alone = [
  'test/chaos/chaos.test.ts',
  'test/scenarios/dead-letter-rocketmq.test.ts',
  'test/scenarios/many-subscriptions.test.ts',
]

const unit = ['packages/**/src/**/*.test.ts', 'services/**/*.test.ts', 'scripts/*.test.ts']

/** Timers of undici live in its module: one that was set while a test turned the clock would never ring for the next. */
const turnsTheClock = globSync(unit, { exclude: ['**/node_modules'] }).filter((file) =>
  readFileSync(file, 'utf8').includes('useFakeTimers'),
)

export default defineConfig({
  test: {
    reporters:
      TEST_RESULTS_DIR === undefined
        ? ['default']
        : ['default', ['json', { outputFile: join(TEST_RESULTS_DIR, `${process.pid}.json`) }]],
    maxWorkers: 2,
    projects: [
      {
        test: {
          name: 'unit',
          include: unit,
          exclude: [...configDefaults.exclude, ...turnsTheClock],
          // Two hundred files in one process each would spend twice their time on loading the same modules.
          isolate: false,
        },
      },
      {
        test: {
          name: 'unit-clock',
          include: turnsTheClock,
        },
      },
      {
        test: {
          name: 'kafka',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...alone],
          ...onKafka,
          sequence: { groupOrder: 1 },
          // These wait more than they work. A fourth would miss limits in time on two cores.
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: 'alone',
          include: alone,
          ...onKafka,
          // After the others, one file after the other.
          sequence: { groupOrder: 2 },
          maxWorkers: 1,
        },
      },
    ],
  },
})
