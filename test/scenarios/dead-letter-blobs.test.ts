/** Dead letters as blobs of a real Blob server, read back with Azure's client, and as files in a folder: rows A13, A15. */
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Message } from 'kafkajs'
import { beforeAll, describe, expect, onTestFailed, test, vi } from 'vitest'
import { deadLetterRecords } from '@barnabas/core'
import { startAzurite } from '../support/azurite.ts'
import type { Azurite, ReadBlob } from '../support/azurite.ts'
import {
  apply,
  createSourceTopic,
  environment,
  lagOf,
  metric,
  removeEverything,
  startBarnabas,
} from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent, structuredEvent } from '../support/events.ts'
import { eventIdOf, header } from '../support/followed-topics.ts'
import { startHoldingProxy } from '../support/holding-proxy.ts'
import { plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import { freePort } from '../support/start.ts'

const prefix = randomName('blobs')
const published = Date.parse('2026-05-04T03:02:01.007Z')
/** Five minutes are 0.3 s, and four hours 14.4 s. */
const timeScale = '0.001'
const unusedKey = Buffer.from('a key of nobody').toString('base64')
const within = { timeout: 20_000, interval: 100 }

const cleanUp = cleanUpAfterAll()
let azurite: Azurite
let barnabas: Barnabas
let receiver: Receiver
let topic: string
let root: string

type DeadLetter = Readonly<Record<string, unknown>> & { readonly id: string }
const lettersIn = (blobs: readonly Pick<ReadBlob, 'text'>[]) =>
  blobs.flatMap(({ text }) => JSON.parse(text) as DeadLetter[])
const idsIn = (blobs: readonly Pick<ReadBlob, 'text'>[]) =>
  lettersIn(blobs)
    .map(({ id }) => id)
    .toSorted()

/** The files of a container that is a folder. */
async function filesIn(container: string): Promise<readonly ReadBlob[]> {
  const folder = join(root, container)
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith('.json'))
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  return names.map((name, index) => ({ name, contentType: undefined, text: texts[index]! }))
}

const groupOf = (target: string, of = prefix) => `${of}.dead-letter.blob.${target.replace('/', '.')}`
const refused = (ids: readonly string[], type: string) => ids.map((id) => binaryEvent(id, { type }))

beforeAll(async () => {
  receiver = await startReceiver(() => 400)
  cleanUp(() => receiver.close())
  azurite = await startAzurite()
  cleanUp(() => azurite.remove())
  root = await mkdtemp(join(tmpdir(), 'barnabas-blobs-'))
  cleanUp(() => rm(root, { recursive: true, force: true }))
  await Promise.all([azurite.makeContainer('letters'), mkdir(join(root, 'letters'))])
  cleanUp(() => removeEverything(prefix))
  barnabas = await startBarnabas(prefix, {
    BARNABAS_TIME_SCALE: timeScale,
    BARNABAS_BLOB_BLOBTESTS_ENDPOINT: azurite.endpoint,
    BARNABAS_BLOB_BLOBTESTS_KEY: azurite.key,
    BARNABAS_BLOB_FOLDER_ENDPOINT: `file://${root}`,
    BARNABAS_BLOB_NOBODY_ENDPOINT: `http://127.0.0.1:${await freePort()}/nobody`,
    BARNABAS_BLOB_NOBODY_KEY: unusedKey,
  })
  cleanUp(() => barnabas.stop())
  topic = await createSourceTopic(prefix, 'orders', 2)
  const common = { topics: [topic], sink: receiver.url, timeout: '10m' }
  const to = (account: string, container = 'letters') => ({ deadLetter: { blob: { account, container } } })
  await apply(prefix, [
    { id: 'orders-to-blobs', ...common, types: ['blob'], ...to('blobtests') },
    { id: 'to-folder', ...common, types: ['folder', 'both'], ...to('folder') },
    { id: 'to-blobs-too', ...common, types: ['both'], ...to('blobtests') },
    { id: 'to-no-container', ...common, types: ['no-container'], ...to('blobtests', 'not-there') },
    { id: 'to-nobody', ...common, types: ['nobody', 'both'], ...to('nobody') },
  ])
})

describe('a dead letter as a blob', () => {
  test('lies where Event Grid puts it, in the spelling of CloudEvents, several in a file (A13, A15)', async () => {
    await produce(plainKafka(), topic, [
      { ...binaryEvent('b-1', { type: 'blob', data: '{ "n": 1.0 }' }), timestamp: String(published), partition: 0 },
      ...['b-2', 'b-3', 'b-4'].map((id) => ({ ...binaryEvent(id, { type: 'blob' }), partition: 0 })),
      structuredEvent('{ "specversion":"1.0","id":"s-1","source":"/tests","type":"blob","data":[1.0] }'),
    ])
    const expected = ['b-1', 'b-2', 'b-3', 'b-4', 's-1']
    await vi.waitFor(async () => expect(idsIn(await azurite.blobs('letters'))).toEqual(expected), within)
    const blobs = await azurite.blobs('letters')
    const uuid = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}'
    const hour = '20\\d\\d/([1-9]|1[0-2])/([1-9]|[12]\\d|3[01])/(0|[1-9]|1\\d|2[0-3])'
    for (const { name, contentType } of blobs) {
      expect(name).toMatch(new RegExp(`^ORDERS-TO-BLOBS/${hour}/${uuid}\\.json$`))
      expect(contentType).toBe('application/json')
    }
    const letter = lettersIn(blobs).find(({ id }) => id === 'b-1')
    const time = expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{7}Z$/) as string
    expect(letter).toEqual({
      specversion: '1.0',
      id: 'b-1',
      source: '/tests',
      type: 'blob',
      datacontenttype: 'application/json',
      data: { n: 1 },
      deadletterreason: 'UndeliverableDueToHttpBadRequest',
      deliveryattempts: 1,
      lastdeliveryoutcome: 'BadRequest',
      publishtime: '2026-05-04T03:02:01.0070000Z',
      lastdeliveryattempttime: time,
      lasthttpstatuscode: 400,
    })
    expect(blobs.some(({ text }) => text.includes('"data":{ "n": 1.0 }'))).toBe(true)
    expect(blobs.some(({ text }) => text.includes('"data":[1.0]'))).toBe(true)
    // The durable step comes first, and stays.
    const records = await readTopic(plainKafka(), `${prefix}.dead-letter`)
    expect(records.map(eventIdOf).filter((id) => expected.includes(id ?? ''))).toHaveLength(5)
    await vi.waitFor(async () => {
      expect(
        await metric(barnabas.url, 'barnabas_dead_letter_blob_events_total', { subscription: 'orders-to-blobs' }),
      ).toBe(5)
      expect(await metric(barnabas.url, 'barnabas_dead_letter_blobs_total', {})).toBe(blobs.length)
    }, within)
  })

  test('is in the schema of its delivery; a custom one is wrapped (A15)', async () => {
    const source = await createSourceTopic(prefix, 'schemas')
    const common = { topics: [source], sink: receiver.url, mode: 'structured', timeout: '10m' }
    const { deadLetter } = { deadLetter: { blob: { account: 'blobtests', container: 'letters' } } }
    const inputSchemaMapping = { eventType: { sourceField: 'eventType' }, dataVersion: { defaultValue: '1.0' } }
    const custom = { input: 'custom', inputSchemaMapping, schema: 'CustomInputSchema' }
    await apply(prefix, [
      { id: 'as-event-grid', ...common, input: 'event-grid', schema: 'EventGridSchema', deadLetter },
      { id: 'as-custom', ...common, ...custom, deadLetter },
    ])
    const event =
      '{"id":"e-1","topic":"/t","subject":"s","eventType":"made","eventTime":"2026-03-01T12:00:00Z",' +
      '"dataVersion":"2","metadataVersion":"1","data":{ "n": 1.0 }}'
    await produce(plainKafka(), source, [{ key: null, value: event, timestamp: String(published) }])
    const of = async (subscription: string) => {
      const isOf = ({ name }: ReadBlob) => name.startsWith(`${subscription.toUpperCase()}/`)
      return (await azurite.blobs('letters')).filter(isOf)
    }
    const properties = {
      deadLetterReason: 'UndeliverableDueToHttpBadRequest',
      deliveryAttempts: 1,
      lastDeliveryOutcome: 'BadRequest',
      publishTime: '2026-05-04T03:02:01.0070000Z',
      lastHttpStatusCode: 400,
    }
    await vi.waitFor(async () => {
      const [asEventGrid, asCustom] = [await of('as-event-grid'), await of('as-custom')]
      expect(asEventGrid.map(({ text }) => text)).toEqual([expect.stringContaining(event.slice(0, -1))])
      expect(lettersIn(asEventGrid)).toEqual([expect.objectContaining(properties)])
      expect(asCustom.map(({ text }) => text)).toEqual([expect.stringContaining(`"data":${event},"deadLetterReason"`)])
      expect(lettersIn(asCustom)).toEqual([
        expect.objectContaining({ ...properties, eventType: 'made', dataVersion: '1.0', topic: source }),
      ])
    }, within)
  })

  test('is a file in a folder in the same way', async () => {
    await produce(plainKafka(), topic, refused(['f-1', 'f-2'], 'folder'))
    await vi.waitFor(async () => expect(idsIn(await filesIn('letters'))).toEqual(['f-1', 'f-2']), within)
    for (const { name } of await filesIn('letters'))
      expect(name).toMatch(/^TO-FOLDER\/20\d\d\/\d+\/\d+\/\d+\/[0-9a-f-]{36}\.json$/)
  })

  test('of what is no event holds its bytes; records of others are passed over, and stop nothing', async () => {
    const letters = `${prefix}.dead-letter`
    const ours = { 'barnabas-dead-letter-blob': 'folder/letters', 'barnabas-subscription': 'to-folder' }
    await produce(plainKafka(), letters, [
      { key: null, value: null },
      { key: 'a', value: 'no event, no header', headers: { 'barnabas-dead-letter-blob': Buffer.from([0xff, 0]) } },
      { value: 'x', headers: { ...ours, 'barnabas-subscription': '../../etc' } },
      { value: 'x', headers: { ...ours, 'barnabas-dead-letter-blob': 'folder/../letters' } },
      { value: Buffer.alloc(900_000), headers: { 'x-large': 'yes' } },
      {
        value: Buffer.from([0xff]),
        headers: { ...ours, 'barnabas-dead-letter-time': 'never', 'barnabas-attempts': '-1' },
      },
    ])
    await produce(plainKafka(), topic, [
      { key: null, value: 'no event', headers: { 'x-any': 'thing' } },
      ...refused(['f-3'], 'folder'),
    ])
    await vi.waitFor(async () => {
      const found = lettersIn(await filesIn('letters'))
      expect(found.map(({ id }) => id)).toContain('f-3')
      expect(found.filter(({ type }) => type === 'Barnabas.DamagedEvent')).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ source: `/${letters}`, data_base64: '/w==' }),
          expect.objectContaining({
            source: `/${topic}`,
            deadletterreason: 'EventMalformed',
            data_base64: Buffer.from('no event').toString('base64'),
          }),
        ]),
      )
      expect(await lagOf(groupOf('folder/letters'), letters)).toBe(0)
    }, within)
  })
})

describe('A13: a blob that cannot be written (the damaged event of before belongs to every subscription)', () => {
  const givenUp = (subscription: string, reason: string) =>
    metric(barnabas.url, 'barnabas_dead_letter_blob_given_up_total', { subscription, reason })

  test('is given up at once when its container does not exist; the record stays in its topic', async () => {
    await produce(plainKafka(), topic, refused(['n-1'], 'no-container'))
    await barnabas.process.line(
      /1 dead letters of to-no-container .* get into no blob of blobtests\/not-there: the container does not exist/,
    )
    await vi.waitFor(async () => expect(await givenUp('to-no-container', 'ContainerNotFound')).toBe(2), within)
    const records = await readTopic(plainKafka(), `${prefix}.dead-letter`)
    expect(records.map((record) => header(record, 'ce_id'))).toContain('n-1')
    await vi.waitFor(
      async () => expect(await lagOf(groupOf('blobtests/not-there'), `${prefix}.dead-letter`)).toBe(0),
      within,
    )
  })

  test('waits until the store is back, delays no other container, and is given up after four hours', async () => {
    await azurite.stop()
    await produce(plainKafka(), topic, refused(['a-1', 'a-2'], 'both'))
    await barnabas.process.line(
      /cannot write dead letters into blobs of blobtests\/letters: .*ECONNREFUSED.*; trying again/,
    )
    await barnabas.process.line(/cannot write dead letters into blobs of nobody\/letters/)
    await vi.waitFor(
      async () => expect(idsIn(await filesIn('letters'))).toEqual(expect.arrayContaining(['a-1', 'a-2'])),
      within,
    )
    expect(await lagOf(groupOf('blobtests/letters'), `${prefix}.dead-letter`)).toBeGreaterThan(0)
    await azurite.start()
    const ofSubscription = async () =>
      (await azurite.blobs('letters')).filter(({ name }) => name.startsWith('TO-BLOBS-TOO/'))
    const away = async () => idsIn(await ofSubscription()).filter((id) => id.startsWith('a-'))
    await vi.waitFor(async () => expect(await away()).toEqual(['a-1', 'a-2']), within)
    await barnabas.process.line(/dead letters are written into blobs of blobtests\/letters again/)
    await barnabas.process.line(/dead letters of to-nobody .* no write has succeeded for four hours/)
    await vi.waitFor(async () => expect(await givenUp('to-nobody', 'Unavailable')).toBe(3), within)
    expect(await givenUp('to-blobs-too', 'Unavailable')).toBe(0)
  })
})

describe("Event Grid's notation", () => {
  /** As Event Grid's REST API takes it. */
  const subscriptionJson = (id: string, type: string, properties: object) => ({
    id,
    topics: [topic],
    handshake: 'none',
    properties: {
      destination: { endpointType: 'WebHook', properties: { endpointUrl: receiver.url } },
      eventDeliverySchema: 'CloudEventSchemaV1_0',
      filter: { includedEventTypes: [type] },
      ...properties,
    },
  })

  test('names the account by its resource id (A13)', async () => {
    const resourceId = '/subscriptions/s/resourceGroups/g/providers/Microsoft.Storage/storageAccounts/blobtests'
    const properties = { resourceId, blobContainerName: 'letters' }
    const written = { deadLetterDestination: { endpointType: 'StorageBlob', properties } }
    await apply(prefix, [subscriptionJson('of-event-grid', 'eg', written)])
    await produce(plainKafka(), topic, refused(['eg-1'], 'eg'))
    await vi.waitFor(async () => {
      const blobs = await azurite.blobs('letters')
      expect(idsIn(blobs.filter(({ name }) => name.startsWith('OF-EVENT-GRID/')))).toEqual(['eg-1'])
    }, within)
  })

  test.each([{}, { notation: 'event-grid-kubernetes', properties: { retryPolicy: { maxDeliveryAttempts: 1 } } }])(
    'has no dead letters unless they are configured: dropped, counted and logged with the reason (A13, C4) %j',
    async ({ properties = {}, ...beside }) => {
      const id = `drops${Object.keys(beside).length}`
      await apply(prefix, [{ ...subscriptionJson(id, id, properties), ...beside }])
      await produce(plainKafka(), topic, refused([`of ${id}`], id))
      const reason = id === 'drops0' ? 'UndeliverableDueToHttpBadRequest' : 'MaxDeliveryAttemptsExceeded'
      await barnabas.process.line(new RegExp(`"eventId":"of ${id}".*"reason":"${reason}".*dropped: ${reason}`))
      const dropped = () => metric(barnabas.url, 'barnabas_dropped_total', { subscription: id })
      await vi.waitFor(async () => expect(await dropped()).toBe(1), within)
      const records = await readTopic(plainKafka(), `${prefix}.dead-letter`)
      expect(records.filter((record) => header(record, 'barnabas-subscription') === id)).toEqual([])
    },
  )
})

test('no key stands in a log', () => {
  const said = barnabas.process.lines.join('\n')
  expect(said).toContain('"key":"set"')
  expect(said).not.toContain(azurite.key)
  expect(said).not.toContain(unusedKey)
})

describe('a dead-letter service that is killed or stopped', () => {
  test('between a write and its commit, again and again, writes nothing twice and loses nothing', async () => {
    const own = randomName('blobs-killed')
    const lives = 3
    const proxy = await startHoldingProxy(azurite.port)
    await azurite.makeContainer('killed')
    const env = {
      ...environment(own),
      BARNABAS_TIME_SCALE: timeScale,
      BARNABAS_SESSION_TIMEOUT: '2s',
      BARNABAS_BLOB_BLOBTESTS_ENDPOINT: `http://127.0.0.1:${proxy.port}/blobtests`,
      BARNABAS_BLOB_BLOBTESTS_KEY: azurite.key,
    }
    const said: string[] = []
    onTestFailed(() => console.log(said.join('\n')))
    const start = async () => {
      const service = runProcess('services/dead-letter/main.ts', env)
      await service.line(/dead-letter is ready/)
      return service
    }
    const letters = (from: number, count: number): Message[] =>
      Array.from({ length: count }, (_, index) => letterOf(`k-${from + index}`, own, index % 2))
    let service = await start()
    try {
      const source = await createSourceTopic(own, 'orders')
      const killed = { account: 'blobtests', container: 'killed' }
      const written = { id: 'killed', topics: [source], sink: receiver.url, deadLetter: { blob: killed } }
      await apply(own, [written], env, ['--no-wait'])
      for (let life = 0; life < lives; life++) {
        const held = proxy.hold()
        await produce(plainKafka(), `${own}.dead-letter`, letters(life * 10, 10))
        await held
        // One of them is asked to stop, and does not wait for the store.
        if (life === 1) expect(await service.kill('SIGTERM')).toBe(0)
        else await service.kill('SIGKILL')
        said.push(...service.lines)
        // What came since may not get into a blob that was decided on before.
        await produce(plainKafka(), `${own}.dead-letter`, letters(100 + life * 10, 10))
        proxy.pass()
        service = await start()
        const lag = () => lagOf(groupOf('blobtests/killed', own), `${own}.dead-letter`)
        await vi.waitFor(async () => expect(await lag()).toBe(0), within)
      }
      const blobs = await azurite.blobs('killed')
      const expected = [0, 100].flatMap((from) => Array.from({ length: 10 * lives }, (_, index) => `k-${from + index}`))
      expect(idsIn(blobs)).toEqual(expected.toSorted())
      // Each life found what the one before had written without knowing.
      expect(proxy.answers.filter((answer) => answer === 'PUT 409').length).toBeGreaterThanOrEqual(lives)
      expect(blobs.length).toBeLessThan(20 * lives)
    } finally {
      await service.kill('SIGKILL')
      said.push(...service.lines)
      await proxy.close()
      await removeEverything(own)
    }
  }, 120_000)
})

/** A dead letter as the dispatcher writes it. */
function letterOf(id: string, own: string, partition: number): Message {
  const headers = { ce_specversion: '1.0', ce_id: id, ce_source: '/tests', ce_type: 'killed' }
  const [record] = deadLetterRecords({
    topic: `${own}.dead-letter`,
    key: null,
    value: Buffer.from('1'),
    headers: Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, Buffer.from(text)])),
    state: { subscriptionId: 'killed', attempts: 1 },
    reason: 'MaxDeliveryAttemptsExceeded',
    time: Date.now(),
    blob: 'blobtests/killed',
  })
  return { key: null, value: record.value, headers: record.headers as Message['headers'] & object, partition }
}
