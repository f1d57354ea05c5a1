import { expect, test } from 'vitest'
import { warningsAboutNames } from './environment-names.ts'
import { environmentVariables } from './environment-variables.ts'

test.each([
  ['BARNABAS_PREFIXX', 'BARNABAS_PREFIX'],
  ['BARNABAS_PARTITION', 'BARNABAS_PARTITIONS'],
  ['BARNABAS_DRAIN_TIMOUT', 'BARNABAS_DRAIN_TIMEOUT'],
  ['BARNABAS_HTPP_PORT', 'BARNABAS_HTTP_PORT'],
  ['BARNABAS_LOGLEVEL', 'BARNABAS_LOG_LEVEL'],
  ['BARNABAS_DATA_DIR_FILE', 'BARNABAS_DATA_DIR'],
  ['BARNABAS_DEMO_', 'BARNABAS_DEMO'],
])('%s is answered with %s', (name, nearest) => {
  expect(warningsAboutNames({ [name]: 'hunter2' })).toEqual([
    `${name} is not a variable of Barnabas and has no effect; did you mean ${nearest}?`,
  ])
})

test.each([
  ['BARNABAS_SERVICE_HOST', '10.96.0.10'],
  ['BARNABAS_SERVICE_PORT', '8080'],
  ['BARNABAS_SERVICE_PORT_HTTP', '8080'],
  ['BARNABAS_PORT', 'tcp://10.96.0.10:8080'],
  ['BARNABAS_PORT_8080_TCP', 'tcp://10.96.0.10:8080'],
  ['BARNABAS_PORT_8080_TCP_ADDR', '10.96.0.10'],
  ['BARNABAS_PORT_8080_TCP_PORT', '8080'],
  ['BARNABAS_PORT_8080_TCP_PROTO', 'tcp'],
  ['BARNABAS_DISPATCHER_SERVICE_HOST', '10.96.0.11'],
  ['BARNABAS_DISPATCHER_PORT', 'tcp://10.96.0.11:8080'],
  ['BARNABAS_DISPATCHER_PORT_8080_TCP_ADDR', '10.96.0.11'],
  ['KAFKA_HEAP_OPTS', '-Xmx1g'],
  ['barnabas_prefix', 'x'],
  ['PATH', '/bin'],
])('%s=%s is none of ours', (name, value) => {
  expect(warningsAboutNames({ [name]: value })).toEqual([])
})

test('no variable of the table is taken for an unknown one', () => {
  const env = Object.fromEntries(environmentVariables.map(({ name }) => [name.replace(/<[A-Z]+>/, 'X'), '1']))
  expect(warningsAboutNames(env).filter((warning) => warning.includes('did you mean'))).toEqual([])
})

test('a name of a megabyte is answered too', () => {
  expect(warningsAboutNames({ [`BARNABAS_${'X'.repeat(1_000_000)}`]: '1' })).toHaveLength(1)
})
