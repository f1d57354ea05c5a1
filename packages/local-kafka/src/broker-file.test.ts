import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadBrokerFile, parseBrokerFile, readBrokerFile, writeBrokerFile, type BrokerFile } from './broker-file.ts'

const file: BrokerFile = {
  brokers: '127.0.0.1:9092',
  port: 9092,
  pid: 4711,
  clusterId: 'PqWRMduQRyaDQ8RiuH58Zw',
  allowedNetworks: ['127.0.0.0/8', '::1/128'],
  runId: 'a-run',
  startedAt: '2026-11-30T20:44:16.063Z',
  kafkaVersion: '4.4.0',
}

test('what is written is read, and no temporary file stays', async () => {
  const dir = await temporaryDir()
  await writeBrokerFile(dir, file)
  expect(await loadBrokerFile(dir)).toEqual(file)
  expect(await readdir(dir)).toEqual(['broker.json'])
})

test.each([
  ['nothing', ''],
  ['half a file', JSON.stringify(file).slice(0, 40)],
  ['no object', '"127.0.0.1:9092"'],
  ['null', 'null'],
  ['a missing field', JSON.stringify({ ...file, runId: undefined })],
  ['a port out of range', JSON.stringify({ ...file, port: 70_000 })],
  ['a pid that is text', JSON.stringify({ ...file, pid: '4711' })],
  ['pid 0, which a signal would take for the whole group', JSON.stringify({ ...file, pid: 0 })],
  ['networks that are no list', JSON.stringify({ ...file, allowedNetworks: '127.0.0.0/8' })],
])('%s is no broker file', (_, text) => {
  expect(parseBrokerFile(text)).toBeNull()
})

test('no broker where there is no file, a damaged one, or one whose process is gone', async () => {
  const dir = await temporaryDir()
  expect(await readBrokerFile(dir)).toBeNull()
  await writeFile(join(dir, 'broker.json'), '{"brokers":')
  expect(await readBrokerFile(dir)).toBeNull()
  // Larger than any pid that a system gives away.
  await writeBrokerFile(dir, { ...file, pid: 2 ** 30 })
  expect(await readBrokerFile(dir)).toBeNull()
})

async function temporaryDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'barnabas-broker-file-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  return dir
}
