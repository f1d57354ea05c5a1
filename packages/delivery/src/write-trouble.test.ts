import { expect, test } from 'vitest'
import type { Logger } from './logger.ts'
import { createWriteTrouble } from './write-trouble.ts'

test('a topic that takes nothing is told once, again after 30 s, and at once when the reason is another one', () => {
  const told: string[] = []
  let now = 0
  const logger: Logger = {
    debug: () => {},
    info: () => {},
    warn: (fields) => void told.push(`${now} ${JSON.stringify(fields)}`),
    error: () => {},
  }
  const trouble = createWriteTrouble(logger, () => now)
  const failures: readonly [at: number, topic: string, error: string][] = [
    [0, 'own', 'does not exist'],
    [1, 'own', 'does not exist'],
    [1, 'other', 'does not exist'],
    [29_999, 'own', 'does not exist'],
    [30_000, 'own', 'does not exist'],
    [30_001, 'own', 'does not exist'],
    [30_002, 'own', 'not allowed'],
  ]
  for (const [at, topic, error] of failures) {
    now = at
    trouble.failed(topic, error)
  }
  expect(told).toEqual([
    '0 {"topic":"own","error":"does not exist"}',
    '1 {"topic":"other","error":"does not exist"}',
    '30000 {"topic":"own","error":"does not exist"}',
    '30002 {"topic":"own","error":"not allowed"}',
  ])
})
