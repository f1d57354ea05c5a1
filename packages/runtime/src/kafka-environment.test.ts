import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { rootCertificates } from 'node:tls'
import { expect, test } from 'vitest'
import { readEnvironment } from './environment.ts'

const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const keyPem = pair.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const certificatePem = selfSigned(pair.privateKey, pair.publicKey)
const caPem = rootCertificates[0] ?? ''

const files: Record<string, string> = {
  ca: caPem,
  cert: certificatePem,
  key: keyPem,
  'other-cert': caPem,
  'encrypted-key': pair.privateKey
    .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' })
    .toString(),
  garbage: 'hunter2',
  empty: ' \n',
  password: 'from file\n',
  'password-crlf': 'from file\r\n',
  'password-spaces': ' p \n\n',
}

function read(env: Record<string, string>) {
  const readFile = (path: string): string => {
    const content = files[path]
    if (content === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`)
    return content
  }
  return readEnvironment({ KAFKA_BROKERS: 'a:9092', ...env }, { kind: 'service', readFile })
}

const sasl = { KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'me' }

test.each([
  [{ KAFKA_SSL: 'true' }, { ssl: {} }],
  [{ KAFKA_SSL: 'false', KAFKA_SSL_CA_FILE: 'ca' }, { ssl: null }],
  [{ KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: 'ca' }, { ssl: { ca: caPem } }],
  [
    { KAFKA_SSL: 'true', KAFKA_SSL_CERT_FILE: 'cert', KAFKA_SSL_KEY_FILE: 'key' },
    { ssl: { cert: certificatePem, key: keyPem } },
  ],
  [
    { ...sasl, KAFKA_SASL_PASSWORD: ' p w ' },
    { sasl: { mechanism: 'scram-sha-512', username: 'me', password: ' p w ' } },
  ],
  [
    { ...sasl, KAFKA_SASL_MECHANISM: 'SCRAM-SHA-256', KAFKA_SASL_PASSWORD_FILE: 'password' },
    { sasl: { mechanism: 'scram-sha-256', username: 'me', password: 'from file' } },
  ],
  [{ ...sasl, KAFKA_SASL_PASSWORD_FILE: 'password-crlf' }, { sasl: { password: 'from file' } }],
  [{ ...sasl, KAFKA_SASL_PASSWORD_FILE: 'password-spaces' }, { sasl: { password: ' p \n' } }],
])('%j', (env, kafka) => {
  expect(read(env as Record<string, string>)).toMatchObject({ kind: 'ok', config: { kafka }, warnings: [] })
})

test.each<[Record<string, string>, string[]]>([
  [
    { KAFKA_SSL_CA_FILE: 'ca' },
    ['KAFKA_SSL_CA_FILE set without KAFKA_SSL; set KAFKA_SSL=true, or false to leave TLS off.'],
  ],
  [
    { KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: 'nowhere' },
    [
      'KAFKA_SSL_CA_FILE="nowhere" names a file that cannot be read: ENOENT: no such file or directory, open \'nowhere\'.',
    ],
  ],
  [{ KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: 'empty' }, ['KAFKA_SSL_CA_FILE="empty" names an empty file.']],
  [
    { KAFKA_SSL: 'true', KAFKA_SSL_CA_FILE: 'garbage' },
    ['KAFKA_SSL_CA_FILE names a file that does not hold a certificate in PEM form.'],
  ],
  [
    { KAFKA_SSL: 'true', KAFKA_SSL_CERT_FILE: 'cert' },
    ['KAFKA_SSL_CERT_FILE is set, KAFKA_SSL_KEY_FILE is not; set both or none.'],
  ],
  [
    { KAFKA_SSL: 'true', KAFKA_SSL_KEY_FILE: 'key' },
    ['KAFKA_SSL_KEY_FILE is set, KAFKA_SSL_CERT_FILE is not; set both or none.'],
  ],
  [
    { KAFKA_SSL: 'true', KAFKA_SSL_CERT_FILE: 'cert', KAFKA_SSL_KEY_FILE: 'encrypted-key' },
    ['KAFKA_SSL_KEY_FILE names a file that does not hold a private key without a passphrase in PEM form.'],
  ],
  [
    { KAFKA_SSL: 'true', KAFKA_SSL_CERT_FILE: 'other-cert', KAFKA_SSL_KEY_FILE: 'key' },
    ['KAFKA_SSL_KEY_FILE does not hold the private key of the certificate in KAFKA_SSL_CERT_FILE.'],
  ],
  [
    { ...sasl, KAFKA_SASL_PASSWORD: 'hunter2', KAFKA_SASL_PASSWORD_FILE: 'password' },
    ['KAFKA_SASL_PASSWORD and KAFKA_SASL_PASSWORD_FILE are both set; set only one of them.'],
  ],
  [
    { ...sasl, KAFKA_SASL_PASSWORD_FILE: 'nowhere' },
    [
      'KAFKA_SASL_PASSWORD_FILE="nowhere" names a file that cannot be read: ENOENT: no such file or directory, open \'nowhere\'.',
    ],
  ],
  [
    sasl,
    [
      'KAFKA_SASL_MECHANISM is set, KAFKA_SASL_PASSWORD is not; set it, or KAFKA_SASL_PASSWORD_FILE to the name of a file with it.',
    ],
  ],
  [
    { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_PASSWORD: 'hunter2' },
    ['KAFKA_SASL_MECHANISM is set, KAFKA_SASL_USERNAME is not; set both.'],
  ],
  [
    { KAFKA_SASL_PASSWORD: 'hunter2' },
    ['KAFKA_SASL_PASSWORD is set, KAFKA_SASL_MECHANISM is not; set it to one of plain, scram-sha-256, scram-sha-512.'],
  ],
  [
    { ...sasl, KAFKA_SASL_MECHANISM: 'gssapi', KAFKA_SASL_PASSWORD: 'hunter2' },
    ['KAFKA_SASL_MECHANISM="gssapi" cannot be used: allowed is one of plain, scram-sha-256, scram-sha-512.'],
  ],
  [
    { KAFKA_BROKERS: '', KAFKA_SSL: 'true' },
    ['KAFKA_SSL and KAFKA_SASL_MECHANISM need KAFKA_BROKERS: the local broker has neither.'],
  ],
])('%j is refused', (env, problems) => {
  const reading = read(env)
  expect(reading).toEqual({ kind: 'invalid', problems })
  expect(JSON.stringify(reading)).not.toContain('hunter2')
})

test('a password in clear text over the wire is warned about', () => {
  expect(read({ ...sasl, KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_PASSWORD: 'hunter2' })).toMatchObject({
    kind: 'ok',
    warnings: ['KAFKA_SASL_MECHANISM=plain without KAFKA_SSL=true sends the password unencrypted.'],
  })
})

/** The smallest certificate that is one: Node makes keys, but no certificates. */
function selfSigned(privateKey: KeyObject, publicKey: KeyObject): string {
  const der = (tag: number, ...parts: Uint8Array[]): Buffer => {
    const body = Buffer.concat(parts)
    const length = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255]
    return Buffer.concat([Buffer.from([tag, ...length]), body])
  }
  const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value))
  const ecdsaWithSha256 = der(0x30, Buffer.from('06082a8648ce3d040302', 'hex'))
  const name = der(0x30, der(0x31, der(0x30, Buffer.from('0603550403', 'hex'), text(0x0c, 'test'))))
  const validity = der(0x30, text(0x17, '200101000000Z'), text(0x17, '400101000000Z'))
  const subjectKey = publicKey.export({ type: 'spki', format: 'der' })
  const body = der(0x30, der(0x02, Buffer.from([1])), ecdsaWithSha256, name, validity, name, subjectKey)
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  const certificate = der(0x30, body, ecdsaWithSha256, signature).toString('base64')
  return `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`
}
