import { expect, test } from 'vitest'
import { readKafkaClusters } from './kafka-clusters.ts'

const brokers = ['kafka-1.example.com:9093', '10.0.0.7:9092']
const password = { secret: 'AUDIT_KAFKA' }
const sasl = { mechanism: 'scram-sha-512', username: 'barnabas', password }

test('entries by their names', () => {
  const root = {
    audit: { brokers, ssl: { caFile: 'ca.pem', certFile: 'cert.pem', keyFile: 'key.pem' }, sasl },
    'alikafka_post-cn-x': { brokers: 'one:9092, two:9092', ssl: true },
    plain: { brokers: ['one:9092'], ssl: false },
  }
  const read = readKafkaClusters(root)
  if (read.kind === 'invalid') throw new Error(JSON.stringify(read.problems))
  expect(Object.fromEntries(read.clusters)).toEqual({
    ...root,
    'alikafka_post-cn-x': { brokers: ['one:9092', 'two:9092'], ssl: true },
  })
  expect(readKafkaClusters({})).toMatchObject({ kind: 'clusters' })
})

test.each<[what: unknown, message: string]>([
  [null, 'clusters: null is not a mapping; write { audit: { brokers'],
  [[], 'clusters: [] is not a mapping'],
  ['x', 'clusters: "x" is not a mapping'],
  [7, 'clusters: 7 is not a mapping'],
  [{ 'a/b': { brokers } }, '["a/b"]: is not the name of a cluster'],
  [{ '': { brokers } }, 'is not the name of a cluster'],
  [{ ['a'.repeat(65)]: { brokers } }, 'is not the name of a cluster'],
  [{ a: null }, 'a: null is not a mapping of fields to values'],
  [{ a: {} }, 'a.brokers: is missing'],
  [{ a: { brokers: [] } }, 'a.brokers: is empty'],
  [{ a: { brokers: 7 } }, 'a.brokers: 7 is not a list; write [kafka.example.com:9092]'],
  [{ a: { brokers: ['one:9092', 'two'] } }, 'a.brokers[1]: "two" is not host:port'],
  [{ a: { brokers: ['one:0'] } }, 'a.brokers[0]: "one:0" is not host:port'],
  [{ a: { brokers: ['one:65536'] } }, 'is not host:port'],
  [{ a: { brokers: ['kafka://one:9092'] } }, 'is not host:port'],
  [{ a: { brokers: ['[::1]:9092'] } }, 'is not host:port'],
  [{ a: { brokers: ['me:hunter2@one:9092'] } }, 'a.brokers[0]: user name and password may not stand here'],
  [{ a: { brokers: [9092] } }, 'a.brokers[0]: 9092 is not text; put it in quotes'],
  [{ a: { brokers: Array.from({ length: 101 }, () => 'one:9092') } }, 'has 101 entries, more than 100'],
  [{ a: { brokers, broker: [] } }, 'a.broker: is not a known field (did you mean brokers?)'],
  [{ a: { brokers, ssl: 'yes' } }, 'a.ssl: "yes" is neither true nor false'],
  [{ a: { brokers, ssl: { ca: 'ca.pem' } } }, 'a.ssl.ca: is not a known field'],
  [{ a: { brokers, ssl: { caFile: 7 } } }, 'a.ssl.caFile: 7 is not text'],
  [{ a: { brokers, ssl: { certFile: 'cert.pem' } } }, 'a.ssl: certFile and keyFile go together'],
  [
    { a: { brokers, ssl: { certFile: 'c', keyFile: '-----BEGIN PRIVATE KEY-----hunter2' } } },
    'a.ssl.keyFile: holds the text itself',
  ],
  [{ a: { brokers, sasl: 'plain' } }, 'a.sasl: "plain" is not a mapping'],
  [{ a: { brokers, sasl: { ...sasl, mechanism: 'SCRAM' } } }, 'a.sasl.mechanism: "SCRAM" is not known; one of plain'],
  [{ a: { brokers, sasl: { username: 'u', password } } }, 'a.sasl.mechanism: is missing'],
  [{ a: { brokers, sasl: { ...sasl, user: 'u' } } }, 'a.sasl.user: is not a known field'],
  [{ a: { brokers, sasl: { ...sasl, password: 'hunter2' } } }, 'a.sasl.password: is not { secret: NAME }; a secret'],
  [{ a: { brokers, sasl: { ...sasl, password: { secret: 'hunter2' } } } }, 'a.sasl.password: the name of a secret is'],
  [{ a: { brokers, sasl: { ...sasl, password: { secret: 'A_FILE' } } } }, 'does not end in _FILE'],
  [{ a: { brokers, sasl: { ...sasl, password: { path: '$.hunter2' } } } }, 'a.sasl.password: is not { secret: NAME }'],
  [{ a: { brokers, sasl: { ...sasl, password: undefined } } }, 'a.sasl.password: is missing'],
  [Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`a${n}`, {}])), 'there are 101, more than 100'],
])('%j is refused', (root, message) => {
  const read = readKafkaClusters(root)
  const messages = read.kind === 'invalid' ? read.problems.map((each) => each.message) : []
  expect(messages).toEqual([expect.stringContaining(message)])
  expect(messages.join()).not.toContain('hunter2')
})
