import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { brokerEndError, lastErrorLines, logTail } from './broker-log.ts'

const info = '[2026-11-30 20:44:15,663] INFO starting (kafka.server.KafkaRaftServer)'

test.each([
  [
    'a port',
    '[…] ERROR Exiting Kafka due to fatal exception (kafka.Kafka$)\norg.apache.kafka.common.KafkaException: Socket server failed to bind to 127.0.0.1:9092: Address already in use.\n\tat kafka.network.Acceptor\nCaused by: java.net.BindException: Address already in use\n',
    'PortTaken',
    'taken by another process',
  ],
  [
    'the disk',
    '[…] ERROR Error while writing (o.a.k.storage)\njava.io.IOException: No space left on device\n',
    'DiskFull',
    'no space is left',
  ],
  [
    'the lock of its directory',
    '[…] ERROR Exiting (kafka.Kafka$)\norg.apache.kafka.common.KafkaException: Failed to acquire lock on file .lock in /data. A Kafka instance in another process or thread is using this directory.\n',
    'DataDirInUse',
    'another broker',
  ],
  [
    'a newer format',
    '[…] ERROR Exiting (kafka.Kafka$)\njava.lang.IllegalArgumentException: No MetadataVersion with feature level 99.\n',
    'DataDirOfOtherVersion',
    'another version',
  ],
  ['memory', 'Error: Could not reserve enough space for 8192KB object heap\n', 'BrokerDied', 'not enough memory'],
  ['something else', '[…] ERROR Exiting (kafka.Kafka$)\njava.lang.RuntimeException: odd\n', 'BrokerDied', 'odd'],
])('a broker that ended because of %s says so', (_, log, code, words) => {
  const error = brokerEndError(`${info}\n${log}`, '/data/kafka.log', 'before it answered')
  expect(error).toMatchObject({ code })
  expect(error.message).toContain(words)
  expect(error.message).toContain('/data/kafka.log')
})

test('a client that names an unknown version is not the reason of an end', () => {
  const log = `${info} UnsupportedVersionException metadata.version\n[…] ERROR odd (kafka.Kafka$)\n`
  expect(brokerEndError(log, '/data/kafka.log', 'while it was in use')).toMatchObject({ code: 'BrokerDied' })
})

test('errors are told without their stacks, and without errors the last lines', () => {
  const log = `${info}\n[…] ERROR one (a)\njava.lang.RuntimeException: two\n\tat x.y\n${info}\n`
  expect(lastErrorLines(log, 5)).toEqual(['[…] ERROR one (a)', 'java.lang.RuntimeException: two'])
  expect(lastErrorLines('a\nb\nc\n', 2)).toEqual(['b', 'c'])
})

test('only what a run wrote itself is its log', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'barnabas-broker-log-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const path = join(dir, 'kafka.log')
  await writeFile(path, 'former\nnow\n')
  expect(await logTail(path, 'former\n'.length)).toBe('now\n')
  // Rotated meanwhile.
  expect(await logTail(path, 1_000_000)).toBe('former\nnow\n')
  expect(await logTail(join(dir, 'missing'), 0)).toBe('')
})
