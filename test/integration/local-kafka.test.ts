import { expect, test } from 'vitest'
import { createTopic, plainKafka, produce, randomName, readTopic } from '../support/kafka.ts'

test('the shared broker takes and gives records', async () => {
  const kafka = plainKafka()
  const topic = randomName('orders')
  await createTopic(kafka, topic, 2)
  await produce(kafka, topic, [{ value: 'a' }, { value: 'b' }])
  expect((await readTopic(kafka, topic)).map(({ value }) => String(value)).toSorted()).toEqual(['a', 'b'])
})
