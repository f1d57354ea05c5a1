/** Rows B6, B7: dead letters are carried to a queue and to a bus, past one that is away and a process that is killed. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import {
  apply,
  barnabasCommand,
  createSourceTopic,
  metric,
  removeEverything,
  startBarnabas,
} from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Answer, ReceivedRequest, Receiver } from '../support/receiver.ts'

const prefix = randomName('accounts')
const cleanUp = cleanUpAfterAll()
const queue = 'mns://1.local/letters'
const bus = 'eventbridge://1.local/letters'
let account: Receiver
let isBusAway = true
let barnabas: Barnabas
let environment: Record<string, string>
let source: string

/** As the two services answer; the bus refuses for good what is named `refused`. */
function answerOf({ path, eventIds }: ReceivedRequest): Answer {
  if (path === '/queues/letters/messages') {
    return { status: 201, body: '<?xml version="1.0"?><Message><MessageId>1</MessageId></Message>' }
  }
  if (path !== '/openapi/putEvents') return 404
  if (isBusAway) return 503
  const entries = eventIds.map((id) =>
    id === 'refused' ? { ErrorCode: 'InvalidArgument', ErrorMessage: 'it is not liked' } : { EventId: id },
  )
  const FailedEntryCount = eventIds.filter((id) => id === 'refused').length
  return { status: 200, body: JSON.stringify({ FailedEntryCount, EntryList: entries }) }
}

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-targets-'))
  cleanUp(() => rm(folder, { recursive: true, force: true }))
  cleanUp(() => removeEverything(prefix))
  account = await startReceiver(answerOf)
  cleanUp(() => account.close())
  const file = join(folder, 'targets.yaml')
  const credentials = { accessKeyId: 'me', accessKeySecret: { secret: 'ALIBABA' } }
  await writeFile(file, JSON.stringify({ '1.local': { mns: account.url, eventbridge: account.url, ...credentials } }))
  environment = {
    BARNABAS_TARGETS_FILE: file,
    BARNABAS_SECRET_ALIBABA: 'hunter2',
    BARNABAS_SESSION_TIMEOUT: '2s',
  }
  const receiver = await startReceiver(() => 400)
  cleanUp(() => receiver.close())
  barnabas = await startBarnabas(prefix, environment)
  cleanUp(() => barnabas.stop())
  source = await createSourceTopic(prefix, 'orders')
  const common = { topics: [source], from: 'earliest', sink: receiver.url }
  await apply(prefix, [
    { id: 'to-queue', deadLetter: { target: 'acs:mns:local:1:/queues/letters' }, ...common },
    { id: 'to-bus', deadLetter: { target: bus }, ...common },
  ])
  await produce(plainKafka(), source, [
    binaryEvent('first'),
    binaryEvent('refused'),
    binaryEvent('large', { data: JSON.stringify('x'.repeat(60_000)) }),
  ])
})

test('B6, B7: a bus that is away delays no queue, loses nothing to kill -9, and gets everything when it is back', async () => {
  await account.until(() => messages().length >= 3)
  const ids = messages().map(({ id }) => id)
  expect(ids.filter((id) => id === 'first' || id === 'refused').toSorted()).toEqual(['first', 'refused'])
  expect(messages().find(({ id }) => id === 'first')).toMatchObject({
    deadletterreason: 'UndeliverableDueToHttpBadRequest',
    deliveryattempts: 1,
    barnabassubscription: 'to-queue',
  })
  expect(messages().find(({ type }) => type === 'Barnabas.DeadLetterReference')).toMatchObject({
    data: { topic: `${prefix}.dead-letter` },
  })
  await vi.waitFor(
    async () => {
      expect(await metric(barnabas.url, 'barnabas_dead_letters_carried_total', { target: queue })).toBe(3)
      expect(await metric(barnabas.url, 'barnabas_dead_letter_target_lag', { target: queue })).toBe(0)
      expect(await metric(barnabas.url, 'barnabas_dead_letter_target_lag', { target: bus })).toBeGreaterThan(0)
    },
    { timeout: 15_000, interval: 100 },
  )
  await barnabas.process.kill('SIGKILL')

  isBusAway = false
  barnabas = await startBarnabas(prefix, environment)
  await vi.waitFor(
    async () => {
      expect(await metric(barnabas.url, 'barnabas_dead_letters_carried_total', { target: bus })).toBe(2)
      expect(await metric(barnabas.url, 'barnabas_dead_letters_refused_total', { target: bus })).toBe(1)
      expect(await metric(barnabas.url, 'barnabas_dead_letter_target_lag', { target: bus })).toBe(0)
    },
    { timeout: 30_000, interval: 100 },
  )
  await barnabas.process.line(/eventbridge:.* refuses the dead letter .* of to-bus for good: it is not liked/)
  const listed = await barnabasCommand(prefix, ['dead-letters', 'refused', '-o', 'json'], environment)
  expect(JSON.parse(listed.text)).toEqual([
    expect.objectContaining({
      target: bus,
      topic: `${prefix}.dead-letter`,
      subscription: 'to-bus',
      code: 'InvalidArgument',
      message: 'it is not liked',
    }),
  ])
  for (const request of account.requests) expect(JSON.stringify(request.headers)).not.toContain('hunter2')
})

test('a connection that no file names stops the start of its subscription, and says what to write', async () => {
  const written = {
    id: 'to-nowhere',
    topics: [source],
    sink: account.url,
    deadLetter: { target: 'mns://2.local/letters' },
  }
  await expect(apply(prefix, [written])).rejects.toThrow(
    /to-nowhere.* deadLetter\.target: mns:\/\/2\.local\/letters: the connection 2\.local is not in BARNABAS_TARGETS_FILE/s,
  )
})

/** What came into the queue. */
function messages() {
  return account.requests.flatMap(({ path, body }) => {
    const [, message = ''] = /<MessageBody>(.*)<\/MessageBody>/.exec(body.toString()) ?? []
    if (path !== '/queues/letters/messages') return []
    return [JSON.parse(Buffer.from(message, 'base64').toString()) as Readonly<Record<string, unknown>>]
  })
}
