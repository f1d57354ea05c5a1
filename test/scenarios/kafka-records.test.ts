/** Plain Kafka records, wrapped as EventBridge wraps them, from a source topic to the receiver, its retry and its dead letter. */
import { beforeAll, expect, test } from 'vitest'
import { apply, createSourceTopic, removeEverything, startBarnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { binaryEvent } from '../support/events.ts'
import { followTopics, header } from '../support/followed-topics.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'

const prefix = randomName('records')
const cleanUp = cleanUpAfterAll()
let receiver: Receiver

beforeAll(async () => {
  receiver = await startReceiver(({ attempt }) => (attempt === 1 ? 503 : 204))
  cleanUp(() => receiver.close())
  cleanUp(() => removeEverything(prefix))
  const barnabas = await startBarnabas(prefix)
  cleanUp(() => barnabas.stop())
})

test('a record is wrapped, a retry is the same event, a CloudEvent stays, and what is not of its type is a dead letter', async () => {
  const topic = await createSourceTopic(prefix, 'plain')
  const letters = await followTopics(plainKafka(), [`${prefix}.dead-letter`])
  cleanUp(() => letters.stop())
  await apply(prefix, [
    {
      id: 'records',
      topics: [topic],
      sink: `${receiver.url}/records`,
      input: 'kafka-record',
      kafkaRecord: { valueType: 'json', instance: 'alikafka_post-cn-1' },
      mode: 'structured',
      retry: { schedule: ['100ms'] },
    },
  ])
  const timestamp = Date.parse('2026-03-01T12:00:00.000Z')
  const value = '{"amount": 1.0, "n": 9007199254740993}'
  await produce(plainKafka(), topic, [
    { key: 'k-1', value, headers: { 'x-team': 'billing' }, timestamp: String(timestamp), partition: 0 },
    { key: 'k-2', value: 'no JSON', headers: { 'x-team': 'billing' }, partition: 0 },
    binaryEvent('ce', { partition: 0 }),
  ])
  const bodies = (await receiver.until((all) => all.length >= 4)).map(({ body }) => body.toString())
  const wrapped = bodies.filter((body) => body.includes('acs:alikafka'))
  expect(wrapped).toEqual([
    `{"specversion":"1.0","id":"${topic}-0-0-${timestamp}","source":"acs:alikafka","type":"alikafka:Topic:Message",` +
      `"subject":"acs:alikafka:alikafka_post-cn-1:topic:${topic}","time":"2026-03-01T12:00:00.000Z",` +
      `"datacontenttype":"application/json; charset=utf-8","data":{"topic":"${topic}","partition":0,"offset":0,` +
      `"timestamp":${timestamp},"headers":{"headers":[{"key":"x-team","value":"billing"}],"isReadOnly":false},` +
      `"key":"k-1","value":${value}}}`,
    wrapped[0],
  ])
  expect(bodies.filter((body) => body.includes('"id":"ce"'))).toHaveLength(2)

  const [letter] = await letters.until((all) => all.length > 0)
  expect(header(letter!, 'barnabas-dead-letter-reason')).toBe('EventMalformed')
  expect(header(letter!, 'barnabas-last-error')).toContain('kafkaRecord.valueType: json: the value is not JSON')
  expect([letter!.key, letter!.value].map(String)).toEqual(['k-2', 'no JSON'])
  expect(header(letter!, 'x-team')).toBe('billing')
})
