import { describe, expect, test } from 'vitest'
import type { ClusterConnection } from './cluster-connection.ts'
import { createProducer } from './producer.ts'

const record = (topic = 't') => ({ topic, key: null, value: Buffer.from('v'), headers: {} })
const partitions = [{ partitionId: 0, leader: 1 }]

/** A cluster of one partition whose leader answers as it is told. */
function producerOn(
  produce: () => Promise<unknown>,
  lookUp: (topic: string) => Promise<unknown> = async () => partitions,
) {
  const sent: string[] = []
  const leader = {
    produce({ topicData: [data] }: { topicData: { topic: string }[] }) {
      sent.push(data!.topic)
      return produce()
    },
  }
  const connection = {
    knownPartitions: () => undefined,
    partitions: lookUp,
    forget: () => undefined,
    leader: async () => leader,
    close: async () => undefined,
  }
  return { producer: createProducer(connection as unknown as ClusterConnection), sent }
}

const failing = (fields: object) => () => Promise.reject(Object.assign(new Error('failed'), fields))
const written = async () => ({
  topics: [{ topicName: 't', partitions: [{ partition: 0, errorCode: 0, baseOffset: '7' }] }],
})

describe('why a record could not be written', () => {
  test.each([
    [{ type: 'REQUEST_TIMED_OUT' }, 'time-out'],
    [{ name: 'KafkaJSRequestTimeoutError' }, 'time-out'],
    [{ name: 'KafkaJSConnectionError', message: 'Connection timeout' }, 'time-out'],
    [{ name: 'KafkaJSConnectionError', code: 'ENOTFOUND' }, 'name'],
    [{ type: 'NOT_ENOUGH_REPLICAS' }, 'replicas'],
    [{ type: 'NOT_ENOUGH_REPLICAS_AFTER_APPEND' }, 'replicas'],
    [{ name: 'KafkaJSConnectionError', code: 'ECONNREFUSED' }, undefined],
  ])('%j', async (fields, because) => {
    const { producer } = producerOn(failing(fields))
    const result = await producer.produce(record(), 1)
    expect(result.kind).toBe('unavailable')
    expect(result).toHaveProperty('message')
    expect(result.kind === 'unavailable' ? result.because : null).toBe(because)
  })

  test('a password that is refused is refused for good', async () => {
    const { producer } = producerOn(failing({ name: 'KafkaJSSASLAuthenticationError', message: 'no such user' }))
    expect(await producer.produce(record())).toEqual({
      kind: 'refused',
      code: 'NOT_AUTHORIZED',
      message: 'no such user',
    })
  })
})

test('nothing is sent of a record after the time that was named for it', async () => {
  const found = Promise.withResolvers<unknown>()
  const { producer, sent } = producerOn(written, () => found.promise)
  const late = producer.produce(record(), 1)
  const patient = producer.produce(record())
  await new Promise((resolve) => setTimeout(resolve, 5))
  found.resolve(partitions)
  expect(await late).toEqual({ kind: 'unavailable', message: 'it could not be sent in time', because: 'time-out' })
  expect(await patient).toEqual({ kind: 'acknowledged', partition: 0, offset: 7 })
  expect(sent).toEqual(['t'])
})

test('one that is given up early takes none with it that waits in the same queue', async () => {
  const failures = [{ code: 'ECONNREFUSED' }, { code: 'ECONNREFUSED' }]
  const { producer } = producerOn(() => {
    const failure = failures.shift()
    return failure === undefined ? written() : Promise.reject(Object.assign(new Error('failed'), failure))
  })
  const [early, patient] = await Promise.all([producer.produce(record(), 10), producer.produce(record())])
  expect(early).toMatchObject({ kind: 'unavailable' })
  expect(patient).toMatchObject({ kind: 'acknowledged' })
})
