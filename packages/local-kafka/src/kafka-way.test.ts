import { expect, test } from 'vitest'
import { findKafkaWay, noKafkaMessage } from './kafka-way.ts'

test('a Kafka that is named is taken before anything is looked for', async () => {
  expect(await findKafkaWay({ env: { KAFKA_BROKERS: ' kafka:9092 ' } })).toEqual({
    kind: 'given',
    brokers: 'kafka:9092',
  })
})

test('without any way the message names all three and why each does not apply', () => {
  const message = noKafkaMessage(
    { java: { missing: 'The Java found is 11.' }, maven: { missing: 'No mvn.' } },
    'no socket',
  )
  for (const words of ['KAFKA_BROKERS=', 'JDK 17', 'The Java found is 11. No mvn.', 'Docker', 'no socket']) {
    expect(message).toContain(words)
  }
})

test('what is there is not called missing', () => {
  const java = { command: 'java', version: '21.0.2' }
  const message = noKafkaMessage({ java, maven: { missing: 'No mvn.' } }, 'no socket')
  expect(message).toContain('Java 21.0.2 is there. No mvn.')
})
