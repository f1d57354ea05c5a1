/** Rows B6, B7: dead letters are carried to topics of other clusters, past one that is away and a process that is killed. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { apply, createSourceTopic, lagOf, metric, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { eventIdOf, followTopics, header } from '../support/followed-topics.ts'
import type { FollowedRecord, FollowedTopics } from '../support/followed-topics.ts'
import { closedGate } from '../support/gate.ts'
import type { Gate } from '../support/gate.ts'
import { createTopic, plainKafka, produce, randomName, testBrokers, withAdmin } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'

const prefix = randomName('targets')
const cleanUp = cleanUpAfterAll()
const kafka = plainKafka()
const nearTopic = randomName(`${prefix}.letters-near`)
const awayTopic = randomName(`${prefix}.letters-away`)
const near = `kafka://near/${nearTopic}`
const away = `kafka://away/${awayTopic}`
let barnabas: Barnabas
let gate: Gate
let environment: Record<string, string>
let letters: FollowedTopics

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-clusters-'))
  cleanUp(() => rm(folder, { recursive: true, force: true }))
  cleanUp(() => removeEverything(prefix))
  gate = await closedGate()
  cleanUp(async () => gate.close())
  const file = join(folder, 'clusters.yaml')
  await writeFile(
    file,
    JSON.stringify({ away: { brokers: [`127.0.0.1:${gate.port}`] }, near: { brokers: testBrokers() } }),
  )
  environment = { BARNABAS_CLUSTERS_FILE: file, BARNABAS_SESSION_TIMEOUT: '2s' }
  await createTopic(kafka, nearTopic)
  await createTopic(kafka, awayTopic)
  await withAdmin((admin) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [{ type: 2, name: nearTopic, configEntries: [{ name: 'max.message.bytes', value: '4000' }] }],
    }),
  )
  const receiver = await startReceiver(() => 400)
  cleanUp(() => receiver.close())
  barnabas = await startBarnabas(prefix, environment)
  cleanUp(() => barnabas.stop())
  letters = await followTopics(kafka, [`${prefix}.dead-letter`, nearTopic, awayTopic])
  cleanUp(() => letters.stop())
  const source = await createSourceTopic(prefix, 'orders')
  const common = { topics: [source], from: 'earliest', sink: receiver.url }
  await apply(prefix, [
    { id: 'to-near', deadLetter: { target: near }, ...common },
    { id: 'to-away', deadLetter: { target: away }, ...common },
    { id: 'to-nobody', ...common },
  ])
  await produce(kafka, source, [
    binaryEvent('first', { key: Buffer.from([0xff, 0x00]), headers: { 'x-several': ['one', 'two'], 'x-null': null } }),
    binaryEvent('large', { data: JSON.stringify('x'.repeat(6_000)) }),
    binaryEvent('last', { data: null }),
  ])
})

test('B6, B7: one that is away delays no other, loses nothing to kill -9, and gets everything when it is back', async () => {
  await letters.until(() => idsIn(nearTopic).length === 2 && idsIn(`${prefix}.dead-letter`).length === 9)
  expect(idsIn(nearTopic)).toEqual(['first', 'last'])
  await barnabas.process.line(
    /kafka:\/\/near\/.* refuses the dead letter .* of to-near for good: .*max\.message\.bytes/,
  )
  await vi.waitFor(
    async () => {
      expect(await metric(barnabas.url, 'barnabas_dead_letters_carried_total', { target: near })).toBe(2)
      expect(await metric(barnabas.url, 'barnabas_dead_letters_refused_total', { target: near })).toBe(1)
      expect(await metric(barnabas.url, 'barnabas_dead_letter_target_lag', { target: near })).toBe(0)
      expect(await metric(barnabas.url, 'barnabas_dead_letter_target_lag', { target: away })).toBeGreaterThan(0)
    },
    { timeout: 15_000, interval: 100 },
  )
  expect(idsIn(awayTopic)).toEqual([])
  await barnabas.process.kill('SIGKILL')

  await gate.open()
  barnabas = await startBarnabas(prefix, environment)
  await letters.until(() => new Set(idsIn(awayTopic)).size === 3)
  const group = `${prefix}.dead-letter.kafka.away/${awayTopic}`
  await vi.waitFor(async () => expect(await lagOf(group, `${prefix}.dead-letter`)).toBe(0), {
    timeout: 15_000,
    interval: 200,
  })
  // Nobody's dead letters stay where they are, and the copies are what stands there.
  expect(new Set(idsIn(`${prefix}.dead-letter`)).size).toBe(3)
  for (const [topic, subscription] of [
    [nearTopic, 'to-near'],
    [awayTopic, 'to-away'],
  ] as const) {
    for (const copy of recordsIn(topic)) {
      expect(header(copy, 'barnabas-subscription')).toBe(subscription)
      const original = recordsIn(`${prefix}.dead-letter`).find(
        (each) => eventIdOf(each) === eventIdOf(copy) && header(each, 'barnabas-subscription') === subscription,
      )
      expect([copy.key, copy.value, copy.headers]).toEqual([original?.key, original?.value, original?.headers])
    }
  }
  expect(idsIn(nearTopic)).toEqual(['first', 'last'])
})

function recordsIn(topic: string): readonly FollowedRecord[] {
  return letters.records.filter((record) => record.topic === topic)
}

function idsIn(topic: string): readonly string[] {
  return recordsIn(topic)
    .map((record) => eventIdOf(record) ?? '')
    .toSorted()
}
