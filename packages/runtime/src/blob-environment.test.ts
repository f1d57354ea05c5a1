import { expect, test } from 'vitest'
import { readBlobEnvironment } from './blob-environment.ts'
import { createEnvironmentReader } from './environment-reader.ts'

const key = 'c2VjcmV0LWtleQ=='

function read(env: Record<string, string>) {
  const reader = createEnvironmentReader(env, () => `${key}\n`)
  const accounts = readBlobEnvironment(env, reader)
  return { accounts, problems: reader.problems, warnings: reader.warnings }
}

test.each([
  [{}, {}],
  [{ BARNABAS_BLOB_ARCHIVE1_KEY: key }, { archive1: { endpoint: null, key } }],
  [{ BARNABAS_BLOB_ARCHIVE1_KEY_FILE: '/a/file' }, { archive1: { endpoint: null, key } }],
  [
    { BARNABAS_BLOB_ARCHIVE_ENDPOINT: ' https://archive.blob.core.windows.net/ ' },
    { archive: { endpoint: 'https://archive.blob.core.windows.net', key: null } },
  ],
  [
    { BARNABAS_BLOB_DEV_ENDPOINT: 'http://127.0.0.1:10000/dev', BARNABAS_BLOB_DEV_KEY: key },
    { dev: { endpoint: 'http://127.0.0.1:10000/dev', key } },
  ],
  [
    { BARNABAS_BLOB_ONE_ENDPOINT: 'file:///var/lib/letters', BARNABAS_BLOB_TWO_KEY: key, BARNABAS_BLOB_NIL_KEY: '' },
    { one: { endpoint: 'file:///var/lib/letters', key: null }, two: { endpoint: null, key } },
  ],
])('%j', (env, expected) => {
  expect(read(env as Record<string, string>)).toEqual({ accounts: expected, problems: [], warnings: [] })
})

test.each([
  [{ BARNABAS_BLOB_DEV_ENDPOINT: 'archive' }, /^BARNABAS_BLOB_DEV_ENDPOINT cannot be used: allowed is a URL such as /],
  [{ BARNABAS_BLOB_DEV_ENDPOINT: 'file://host/path' }, /allowed is a URL such as /],
  [
    { BARNABAS_BLOB_DEV_ENDPOINT: 'https://a.example/?sig=hunter2' },
    /user name, password, \? and # may not stand in it/,
  ],
  [
    { BARNABAS_BLOB_DEV_ENDPOINT: 'https://me:hunter2@a.example/' },
    /user name, password, \? and # may not stand in it/,
  ],
  [{ BARNABAS_BLOB_DEV_ENDPOINT: 'http://a.example' }, /begins with http: and needs BARNABAS_BLOB_DEV_KEY/],
  [
    { BARNABAS_BLOB_DEV_KEY: 'hunter2' },
    /^BARNABAS_BLOB_DEV_KEY is not the key of a storage account, which is base64\.$/,
  ],
  [{ BARNABAS_BLOB_DEV_KEY: key, BARNABAS_BLOB_DEV_KEY_FILE: '/f' }, /are both set; set only one of them\.$/],
  [{ BARNABAS_BLOB_my_account_KEY: key }, /^BARNABAS_BLOB_my_account_…: "my_account" names no storage account; /],
  [
    { BARNABAS_BLOB_AB_KEY: key },
    /"AB" names no storage account; it is .* in upper case, 3 to 24 letters and digits\.$/,
  ],
])('%j is refused in one sentence without the secret', (env, sentence) => {
  const { problems } = read(env)
  expect(problems).toEqual([expect.stringMatching(sentence)])
  expect(problems.join()).not.toMatch(/hunter2|c2Vj/)
})

test('a key of a folder has no effect, and a warning says so', () => {
  const env = { BARNABAS_BLOB_DEV_ENDPOINT: 'file:///x', BARNABAS_BLOB_DEV_KEY: key }
  expect(read(env).warnings).toEqual([
    'BARNABAS_BLOB_DEV_KEY has no effect, because BARNABAS_BLOB_DEV_ENDPOINT is a folder.',
  ])
})
