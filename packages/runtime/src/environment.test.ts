import { expect, test } from 'vitest'
import { describeConfig, type Config } from './config.ts'
import { readEnvironment, type EnvironmentOptions } from './environment.ts'
import { environmentVariables } from './environment-variables.ts'

const service: EnvironmentOptions = { kind: 'service', readFile: (path) => missing(path) }

function missing(path: string): never {
  throw new Error(`ENOENT: no such file or directory, open '${path}'`)
}

function configOf(env: Record<string, string | undefined>, options = service): Config {
  const reading = readEnvironment(env, options)
  if (reading.kind === 'invalid') throw new Error(reading.problems.join('\n'))
  return reading.config
}

function problemsOf(env: Record<string, string | undefined>, options = service): readonly string[] {
  const reading = readEnvironment(env, options)
  return reading.kind === 'invalid' ? reading.problems : []
}

const defaults: Config = {
  kafka: { brokers: null, ssl: null, sasl: null },
  prefix: 'barnabas',
  partitions: 8,
  tierPartitions: 8,
  replication: 'auto',
  dataDir: '.barnabas',
  kafkaPort: null,
  httpHost: '127.0.0.1',
  httpPort: undefined,
  demo: true,
  allowedNetworks: [],
  publicUrl: null,
  origin: 'barnabas.local',
  drainTimeoutMs: 25_000,
  timeScale: 1,
  eventGrid: { maxAttempts: 30, timeToLiveMs: 86_400_000, batchMaxEvents: 10, batchPreferredBytes: null },
  destinationsFile: null,
  clustersFile: null,
  targetsFile: null,
  sessionTimeoutMs: 10_000,
  logLevel: 'info',
  blobAccounts: {},
  secrets: { values: {}, files: {}, dir: null },
}

test('an empty environment gives the defaults of a single service', () => {
  expect(readEnvironment({}, service)).toEqual({ kind: 'ok', config: defaults, warnings: [] })
})

test('start has defaults of its own for the HTTP port and the drain', () => {
  expect(configOf({}, { kind: 'start' })).toEqual({ ...defaults, httpPort: 8080, drainTimeoutMs: 8_000 })
})

test('an empty or blank variable counts as unset', () => {
  const names = [
    'KAFKA_BROKERS',
    'KAFKA_SSL',
    'KAFKA_SASL_PASSWORD',
    'BARNABAS_PREFIX',
    'BARNABAS_HTTP_PORT',
    'BARNABAS_NONSENSE',
  ]
  const env = Object.fromEntries(names.map((name, index) => [name, index % 2 === 0 ? '' : '  ']))
  expect(readEnvironment(env, service)).toEqual({ kind: 'ok', config: defaults, warnings: [] })
})

test.each<[string, string, Partial<Config>]>([
  ['BARNABAS_PREFIX', 'team-a.Barnabas_2', { prefix: 'team-a.Barnabas_2' }],
  ['BARNABAS_PREFIX', 'p'.repeat(143), { prefix: 'p'.repeat(143) }],
  ['BARNABAS_PARTITIONS', '1', { partitions: 1 }],
  ['BARNABAS_TIER_PARTITIONS', ' 32 ', { tierPartitions: 32 }],
  ['BARNABAS_REPLICATION', '3', { replication: 3 }],
  ['BARNABAS_DATA_DIR', '/var/lib/barnabas data', { dataDir: '/var/lib/barnabas data' }],
  ['BARNABAS_KAFKA_PORT', '19092', { kafkaPort: 19092 }],
  ['BARNABAS_HTTP_HOST', '::1', { httpHost: '::1' }],
  ['BARNABAS_HTTP_HOST', 'localhost', { httpHost: 'localhost' }],
  ['BARNABAS_HTTP_PORT', '0', { httpPort: 0 }],
  ['BARNABAS_HTTP_PORT', '65535', { httpPort: 65535 }],
  ['BARNABAS_DEMO', 'FALSE', { demo: false }],
  [
    'BARNABAS_ALLOWED_NETWORKS',
    '10.0.0.0/8, fd00::/8,,127.0.0.1/32',
    { allowedNetworks: ['10.0.0.0/8', 'fd00::/8', '127.0.0.1/32'] },
  ],
  [
    'BARNABAS_PUBLIC_URL',
    'https://Barnabas.Example:8443/hooks/',
    { publicUrl: 'https://barnabas.example:8443/hooks', origin: 'barnabas.example' },
  ],
  // An address is no DNS name.
  ['BARNABAS_PUBLIC_URL', 'http://127.0.0.1:8080', { publicUrl: 'http://127.0.0.1:8080' }],
  ['BARNABAS_PUBLIC_URL', 'http://[::1]:8080/', { publicUrl: 'http://[::1]:8080' }],
  ['BARNABAS_ORIGIN', 'shop.example', { origin: 'shop.example' }],
  ['BARNABAS_DRAIN_TIMEOUT', '500ms', { drainTimeoutMs: 500 }],
  ['BARNABAS_DRAIN_TIMEOUT', '1h', { drainTimeoutMs: 3_600_000 }],
  ['BARNABAS_TIME_SCALE', '0.01', { timeScale: 0.01 }],
  ['BARNABAS_EVENT_GRID_MAX_ATTEMPTS', '1', { eventGrid: { ...defaults.eventGrid, maxAttempts: 1 } }],
  ['BARNABAS_EVENT_GRID_MAX_ATTEMPTS', '30', {}],
  ['BARNABAS_EVENT_GRID_TIME_TO_LIVE', '1m', { eventGrid: { ...defaults.eventGrid, timeToLiveMs: 60_000 } }],
  ['BARNABAS_EVENT_GRID_TIME_TO_LIVE', '24h', {}],
  ['BARNABAS_EVENT_GRID_BATCH_MAX_EVENTS', '1', { eventGrid: { ...defaults.eventGrid, batchMaxEvents: 1 } }],
  ['BARNABAS_EVENT_GRID_BATCH_MAX_EVENTS', '5000', { eventGrid: { ...defaults.eventGrid, batchMaxEvents: 5_000 } }],
  ['BARNABAS_EVENT_GRID_BATCH_MAX_EVENTS', '10', {}],
  [
    'BARNABAS_EVENT_GRID_BATCH_PREFERRED_SIZE',
    '1024B',
    { eventGrid: { ...defaults.eventGrid, batchPreferredBytes: 1_024 } },
  ],
  [
    'BARNABAS_EVENT_GRID_BATCH_PREFERRED_SIZE',
    ' 1MB ',
    { eventGrid: { ...defaults.eventGrid, batchPreferredBytes: 1_048_576 } },
  ],
  [
    'BARNABAS_EVENT_GRID_BATCH_PREFERRED_SIZE',
    '64KB',
    { eventGrid: { ...defaults.eventGrid, batchPreferredBytes: 65_536 } },
  ],
  ['BARNABAS_SESSION_TIMEOUT', '1s', { sessionTimeoutMs: 1_000 }],
  ['BARNABAS_LOG_LEVEL', 'Debug', { logLevel: 'debug' }],
])('%s=%s', (name, value, expected) => {
  expect(configOf({ [name]: value })).toEqual({ ...defaults, ...expected })
})

test('brokers that are named switch the demo off, unless it is asked for', () => {
  const brokers = 'a.example:9092, b_2:19092,127.0.0.1:1'
  const kafka = { ...defaults.kafka, brokers: ['a.example:9092', 'b_2:19092', '127.0.0.1:1'] }
  expect(configOf({ KAFKA_BROKERS: brokers })).toEqual({ ...defaults, kafka, demo: false })
  expect(configOf({ KAFKA_BROKERS: brokers, BARNABAS_DEMO: 'true' })).toEqual({ ...defaults, kafka, demo: true })
})

const garbage = [
  '-1',
  '1.5',
  '0x10',
  '1e3',
  'NaN',
  'Infinity',
  'null',
  'много',
  '1 000',
  '99999999999999999999',
  '{}',
  "';--",
]
const noNumber = [...garbage, 'true']

test.each<[string, readonly string[], string]>([
  ['BARNABAS_PARTITIONS', [...noNumber, '0', '10001'], 'allowed is a whole number from 1 to 10000'],
  ['BARNABAS_TIER_PARTITIONS', [...noNumber, '0', '1001'], 'allowed is a whole number from 1 to 1000'],
  ['BARNABAS_REPLICATION', [...noNumber, '0', '32768'], 'allowed is a whole number from 1 to 32767'],
  ['BARNABAS_EVENT_GRID_MAX_ATTEMPTS', [...noNumber, '0', '31'], 'allowed is a whole number from 1 to 30'],
  [
    'BARNABAS_EVENT_GRID_TIME_TO_LIVE',
    [...noNumber, '1440', '59s', '86401s', '25h'],
    'allowed is a duration such as 500ms, 30s or 5m, from 1m to 24h',
  ],
  ['BARNABAS_EVENT_GRID_BATCH_MAX_EVENTS', [...noNumber, '0', '5001'], 'allowed is a whole number from 1 to 5000'],
  [
    'BARNABAS_EVENT_GRID_BATCH_PREFERRED_SIZE',
    [...noNumber, '65536', '64', '64kb', '64 KB', '0KB', '1023B', '1025KB', '2MB', '1GB', '64KB64KB'],
    'allowed is a size such as 64KB, from 1KB to 1024KB',
  ],
  ['BARNABAS_KAFKA_PORT', [...noNumber, '0', '65536'], 'allowed is a whole number from 1 to 65535'],
  ['BARNABAS_HTTP_PORT', [...noNumber, '65536', 'tcp://10.0.0.1:80'], 'allowed is a whole number from 0 to 65535'],
  [
    'BARNABAS_PUBLIC_URL',
    [
      'barnabas.example',
      'ftp://barnabas.example',
      'https://user:word@barnabas.example',
      'https://barnabas.example/?a=1',
      'https://barnabas.example/#top',
    ],
    'allowed is an http(s) URL without user name, query and fragment, such as https://barnabas.example.com',
  ],
  [
    'BARNABAS_ORIGIN',
    ['https://shop.example', '10.0.0.1', '::1', '7', 'shop example', 'shop.example:443', 'a\r\nX: y'],
    'allowed is a DNS name, such as barnabas.example.com',
  ],
  ['BARNABAS_DEMO', [...garbage, 'yes', '1', '0', 'truee'], 'allowed is true or false'],
  [
    'BARNABAS_DRAIN_TIMEOUT',
    [...noNumber, '25', '25 s', '2h', '1s1s'],
    'allowed is a duration such as 500ms, 30s or 5m, at most 1h',
  ],
  [
    'BARNABAS_SESSION_TIMEOUT',
    [...noNumber, '999ms', '31m', '0s'],
    'allowed is a duration such as 500ms, 30s or 5m, from 1s to 30m',
  ],
  [
    'BARNABAS_TIME_SCALE',
    ['-1', '0', '0.0', '1e-3', 'NaN', 'Infinity', '1,5', '.5', '1001', 'x'],
    'allowed is a number above 0 and up to 1000, such as 1 or 0.01',
  ],
  [
    'BARNABAS_LOG_LEVEL',
    [...garbage, 'verbose', 'constructor', '30'],
    'allowed is one of fatal, error, warn, info, debug, trace, silent',
  ],
  [
    'BARNABAS_PREFIX',
    ['a b', 'a/b', 'ü', 'a\nb', 'a,b', 'p'.repeat(173)],
    'allowed are letters, digits, ".", "_" and "-", at most 143 in all',
  ],
  [
    'BARNABAS_HTTP_HOST',
    ['127.0.0.1:80', 'http://localhost', 'a b', '*', '-a', '[::1]'],
    'allowed is an IP address or a host name, without a port',
  ],
  ['BARNABAS_TEST_KAFKA', ['docker', 'true'], 'allowed is one of container'],
  ['KAFKA_SSL', [...garbage, 'yes', '1'], 'allowed is true or false'],
])('%s refuses what it cannot use, naming it', (name, values, allowed) => {
  for (const value of values)
    expect(problemsOf({ [name]: value })).toEqual([`${name}=${JSON.stringify(value)} cannot be used: ${allowed}.`])
})

test.each([
  ['localhost', '"localhost" has no port; write localhost:9092 or the like'],
  ['a:9092,b:99999', 'the port of "b:99999" is not a whole number from 1 to 65535'],
  ['a:0', 'the port of "a:0" is not a whole number from 1 to 65535'],
  ['a:', 'the port of "a:" is not a whole number from 1 to 65535'],
  ['a:kafka', 'the port of "a:kafka" is not a whole number from 1 to 65535'],
  [':9092', '":9092" is not host:port (without scheme, user and path)'],
  ['kafka://a:9092', '"kafka://a:9092" is not host:port (without scheme, user and path)'],
  ['a b:9092', '"a b:9092" is not host:port (without scheme, user and path)'],
  ['a:9092 b:9092', '"a:9092 b:9092" is not host:port (without scheme, user and path)'],
  ['[::1]:9092', '"[::1]:9092" is an IPv6 address; write a host name for it'],
  ['::1', '"::1" is an IPv6 address; write a host name for it'],
  [',,', 'allowed is host:port, several separated by commas'],
])('KAFKA_BROKERS=%s says which part is wrong', (value, reason) => {
  expect(problemsOf({ KAFKA_BROKERS: value })).toEqual([
    `KAFKA_BROKERS=${JSON.stringify(value)} cannot be used: ${reason}.`,
  ])
})

test.each([
  ['10.0.0.0', '"10.0.0.0" has no prefix length; write 10.0.0.0/32 for that one address'],
  ['::1', '"::1" has no prefix length; write ::1/128 for that one address'],
  ['10.0.0.0/33', 'the prefix length of "10.0.0.0/33" is not a whole number from 0 to 32'],
  ['fd00::/129', 'the prefix length of "fd00::/129" is not a whole number from 0 to 128'],
  ['10.0.0.0/', 'the prefix length of "10.0.0.0/" is not a whole number from 0 to 32'],
  ['10.0.0.0/8/8', '"10.0.0.0/8/8" is not a network such as 10.0.0.0/8 or fd00::/8'],
  ['10.0.0/8', '"10.0.0/8" is not a network such as 10.0.0.0/8 or fd00::/8'],
  ['fe80::1%eth0/64', '"fe80::1%eth0/64" is not a network such as 10.0.0.0/8 or fd00::/8'],
  ['localhost', '"localhost" is not a network such as 10.0.0.0/8 or fd00::/8'],
  ['127.0.0.0/8;10.0.0.0/8', '"127.0.0.0/8;10.0.0.0/8" is not a network such as 10.0.0.0/8 or fd00::/8'],
  [',', 'allowed are networks such as 10.0.0.0/8, separated by commas'],
])('BARNABAS_ALLOWED_NETWORKS=%s says which part is wrong', (value, reason) => {
  expect(problemsOf({ BARNABAS_ALLOWED_NETWORKS: value })).toEqual([
    `BARNABAS_ALLOWED_NETWORKS=${JSON.stringify(value)} cannot be used: ${reason}.`,
  ])
})

test('every problem is told at once, and a long value is cut', () => {
  const problems = problemsOf({ BARNABAS_PARTITIONS: 'x'.repeat(5_000), BARNABAS_DEMO: 'maybe' })
  expect(problems).toHaveLength(2)
  expect(problems[0]).toContain(`${'x'.repeat(200)}…"`)
  expect(problems[0]?.length).toBeLessThan(300)
})

test('a time scale is told, because it is meant for tests', () => {
  expect(readEnvironment({ BARNABAS_TIME_SCALE: '0.01' }, service)).toMatchObject({
    warnings: ['BARNABAS_TIME_SCALE=0.01 changes every delay and is meant for tests only.'],
  })
})

test('the description of a configuration leaves out what is secret', () => {
  const described = describeConfig({
    ...defaults,
    kafka: {
      brokers: ['a:1'],
      ssl: { ca: 'CA PEM', key: 'KEY PEM' },
      sasl: { mechanism: 'plain', username: 'me', password: 'hunter2' },
    },
    blobAccounts: { archive: { endpoint: null, key: 'hunter2=' }, folder: { endpoint: 'file:///x', key: null } },
  })
  expect(described).toMatchObject({
    prefix: 'barnabas',
    httpPort: 'off',
    replication: 'auto',
    blobAccounts: { archive: { endpoint: "Azure's own", key: 'set' }, folder: { endpoint: 'file:///x', key: 'none' } },
    kafka: {
      brokers: ['a:1'],
      ssl: { ca: 'from file', cert: 'none', key: 'from file' },
      sasl: { mechanism: 'plain', username: 'me' },
    },
  })
  expect(JSON.stringify(described)).not.toMatch(/hunter2|PEM/)
})

test('what is read and what the table of variables says are the same', () => {
  const read = new Set<string>()
  const env = new Proxy<Record<string, string>>(
    {
      KAFKA_SSL: 'true',
      KAFKA_BROKERS: 'a:9092',
      BARNABAS_BLOB_ARCHIVE_ENDPOINT: 'file:///archive',
      BARNABAS_SECRET_ARCHIVE: 'x',
      BARNABAS_SECRET_ARCHIVE_FILE: '/x',
    },
    {
      get(target, name) {
        read.add(String(name))
        return target[String(name)]
      },
    },
  )
  readEnvironment(env, service)
  const named = environmentVariables.flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name]))
  expect([...read].toSorted()).toEqual(named.map((name) => name.replace(/<[A-Z]+>/, 'ARCHIVE')).toSorted())
})
