import { execFile, spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A certificate authority, and a certificate for 127.0.0.1 that it signed: for a server, and for a client as well. All PEM. */
export interface Certificates {
  readonly caFile: string
  readonly certificateFile: string
  /** PKCS #8, without a passphrase. */
  readonly keyFile: string
}

export function canMakeCertificates(): boolean {
  const can = spawnSync('openssl', ['version']).status === 0
  if (!can) console.warn('skipped: the certificates of a broker with TLS are made with openssl')
  return can
}

/** Makes them in the folder with `openssl`; good for two days. */
export async function makeCertificates(folder: string): Promise<Certificates> {
  const openssl = (...args: readonly string[]) => promisify(execFile)('openssl', args, { cwd: folder })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  await writeFile(join(folder, 'server.ext'), 'subjectAltName=IP:127.0.0.1\n')
  await openssl('req', '-x509', ...newKey, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/CN=test-ca')
  await openssl('req', ...newKey, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=kafka')
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'server.ext']
  await openssl('x509', '-req', '-in', 'server.csr', '-out', 'server.pem', ...signed)
  const path = (name: string) => join(folder, name)
  return { caFile: path('ca.pem'), certificateFile: path('server.pem'), keyFile: path('server.key') }
}
