import { heldTopic, ownTopics } from '@barnabas/core'
import { createMetrics, environmentVariables } from '@barnabas/runtime'
import { expect, test } from 'vitest'
import { differences, onlyKeys, page, rowsOf, tableOf } from './markdown.ts'
import type { Row } from './markdown.ts'

/** Every table of docs/configuration.md and docs/architecture.md that says what the code says too. A missing, extra or different row fails and is named. */
const configuration = page('docs/configuration.md')
const architecture = page('docs/architecture.md')

test('variables', () => {
  const actual = rowsOf(
    environmentVariables,
    ({ name, secret }) => (secret ? `${name}, ${name}_FILE` : name),
    (variable) => ({ default: variable.default, meaning: variable.meaning }),
  )
  expect(differences('variables', tableOf(configuration, 'Environment'), actual)).toBe('')
})

test('topics', () => {
  const options = { prefix: 'barnabas', partitions: 5, tierPartitions: 7, replication: 3 }
  const wanted = [...ownTopics(options), heldTopic(options, '<id>')]
  const partitions = new Map([
    [1, '1'],
    [5, '`BARNABAS_PARTITIONS`'],
    [7, '`BARNABAS_TIER_PARTITIONS`'],
  ])
  const byName = Map.groupBy(wanted, ({ topic }) => topic.replace(/\.retry\..*/, '.retry.<delay>'))
  const actual = new Map<string, Row>()
  for (const [name, topics] of byName) {
    const rows = topics.map((topic) => {
      const { 'min.insync.replicas': replicas, ...config } = topic.config
      expect(replicas, topic.topic).toBe('2')
      const settings = Object.entries(config).map(([key, value]) => `\`${key}=${value}\``)
      return { partitions: partitions.get(topic.partitions) ?? '', configuration: settings.join(' ') }
    })
    for (const row of rows) expect(row).toEqual(rows[0])
    actual.set(name, rows[0] ?? {})
  }
  expect(differences('topics', tableOf(configuration, 'Topics'), actual)).toBe('')
})

test('metrics', async () => {
  const text = await createMetrics().text()
  const own = [...text.matchAll(/^# TYPE (barnabas_\w+) /gm)].map(([, name = '']) => name)
  expect(differences('metrics', tableOf(configuration, 'Health and metrics'), onlyKeys(own))).toBe('')
})

test('docs/architecture.md: packages, and who may import whom', async () => {
  const matrixFile = new URL('../.dependency-cruiser.mjs', import.meta.url).href
  const { importMatrix } = (await import(matrixFile)) as { importMatrix: Record<string, readonly string[]> }
  const actual = rowsOf(
    Object.entries(importMatrix),
    ([unit]) => unit,
    ([, targets]) => ({ imports: targets.map((target) => `\`${target}\``).join(', ') || 'none' }),
  )
  expect(differences('packages', tableOf(architecture, 'Packages'), actual)).toBe('')
})
