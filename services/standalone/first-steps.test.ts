import { expect, test } from 'vitest'
import { firstSteps, settingsToRepeat } from './first-steps.ts'

test.each([
  ['a start as it comes needs nothing', { prefix: 'barnabas', dataDir: '.barnabas' }, true, ''],
  ['another data directory', { prefix: 'barnabas', dataDir: '/data' }, true, 'BARNABAS_DATA_DIR=/data'],
  [
    'a named Kafka and another prefix',
    { prefix: 'mine', dataDir: '/data' },
    false,
    'the same KAFKA_BROKERS and BARNABAS_ALLOWED_NETWORKS=127.0.0.0/8 and BARNABAS_PREFIX=mine',
  ],
])('%s', (_name, config, isOwnBroker, expected) => {
  expect(settingsToRepeat(config, isOwnBroker)).toBe(expected)
})

test('the commands say what they need', () => {
  expect(firstSteps()[0]).toBe('Send an event of your own, each command in another terminal:')
  expect(firstSteps('BARNABAS_PREFIX=mine')[0]).toContain('terminal, with BARNABAS_PREFIX=mine:')
})
