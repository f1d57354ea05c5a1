import { expect, test } from 'vitest'
import { containerEnvironment } from './container-kafka.ts'

test('the image gets every setting as a variable, and clients get 127.0.0.1', () => {
  const environment = containerEnvironment(9093, { heapMb: 256, serverProperties: { 'a.b_c-d': 'x' } })
  expect(environment).toMatchObject({
    KAFKA_HEAP_OPTS: '-Xmx256m',
    KAFKA_ADVERTISED_LISTENERS: 'PLAINTEXT://127.0.0.1:9093',
    KAFKA_LISTENERS: 'PLAINTEXT://:9093,CONTROLLER://127.0.0.1:9094',
    KAFKA_CONTROLLER_QUORUM_VOTERS: '1@127.0.0.1:9094',
    KAFKA_A_B__C___D: 'x',
  })
})
