import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSubscription } from '@barnabas/core'
import type { FoundSecret } from '@barnabas/runtime'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTargetAccounts } from './target-accounts.ts'

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'barnabas-targets-'))
})
afterAll(() => rm(cwd, { recursive: true, force: true }))

const file = `
mine: { mns: "https://1.mns.r.aliyuncs.com", accessKeyId: me, accessKeySecret: { secret: KEY } }
theirs: { mns: "http://127.0.0.1:1", accessKeyId: them, accessKeySecret: { secret: KEY }, securityToken: { secret: TOKEN } }
queues: { rocketmq: { endpoints: [127.0.0.1:8081] } }
guarded: { rocketmq: { endpoints: [a:1, b:2], ssl: true, namespace: ns, username: me, password: { secret: KEY } } }
`
const unknown = (name: string): FoundSecret => ({ kind: 'unknown', message: `the secret ${name} is not known` })

async function open(text: string | null, findSecret: (name: string) => FoundSecret = unknown) {
  if (text !== null) await writeFile(join(cwd, 'targets.yaml'), text)
  return openTargetAccounts({ file: text === null ? null : 'targets.yaml', cwd, findSecret })
}

async function accounts(...args: Parameters<typeof open>) {
  const opened = await open(...args)
  if (opened.kind === 'invalid') throw new Error(opened.message)
  return opened.accounts
}

test('B7: an account is found with its secrets of now', async () => {
  const values: Record<string, string> = { KEY: 'one', TOKEN: 'token' }
  const found = await accounts(file, (name) => ({ kind: 'value', value: values[name] ?? '' }))
  expect(found.find('mns', 'mine')).toEqual({
    kind: 'connection',
    endpoint: 'https://1.mns.r.aliyuncs.com',
    credentials: { accessKeyId: 'me', accessKeySecret: 'one', securityToken: null },
  })
  values['KEY'] = 'two'
  expect(found.find('mns', 'theirs')).toMatchObject({
    credentials: { accessKeyId: 'them', accessKeySecret: 'two', securityToken: 'token' },
  })
})

test('B7: a RocketMQ is found with its password of now, or without one', async () => {
  const found = await accounts(file, () => ({ kind: 'value', value: 'one' }))
  const unguarded = { kind: 'connection', endpoints: ['127.0.0.1:8081'], isSecure: false, namespace: '', login: null }
  expect(found.findRocketMq('queues')).toEqual(unguarded)
  expect(found.findRocketMq('guarded')).toEqual({
    kind: 'connection',
    endpoints: ['a:1', 'b:2'],
    isSecure: true,
    namespace: 'ns',
    login: { username: 'me', password: 'one' },
  })
})

test.each([
  [
    null,
    'mine',
    'mns',
    'the connection mine is not known: set BARNABAS_TARGETS_FILE, and write `mine: { mns: https://',
  ],
  [file, 'mien', 'mns', 'the connection mien is not in BARNABAS_TARGETS_FILE (did you mean mine?)'],
  [
    file,
    'mine',
    'eventbridge',
    'has no eventbridge; write `eventbridge: https://ACCOUNT.eventbridge.REGION.aliyuncs.com`',
  ],
  [file, 'queues', 'mns', 'has no mns; write `mns: https://ACCOUNT.mns.REGION.aliyuncs.com`'],
  [file, 'mine', 'rocketmq', 'has no rocketmq; write `rocketmq: { endpoints: [rocketmq.example.com:8081] }`'],
  [null, 'own', 'rocketmq', 'and write `own: { rocketmq: { endpoints: [rocketmq.example.com:8081] } }` into that file'],
  [file, 'mine', 'mns', 'the connection mine: the secret KEY is not known'],
  [file, 'guarded', 'rocketmq', 'the connection guarded: the secret KEY is not known'],
] as const)(
  'what is missing is named, at the start of a subscription too: %#',
  async (text, connection, kind, message) => {
    const found = await accounts(text)
    expect(kind === 'rocketmq' ? found.findRocketMq(connection) : found.find(kind, connection)).toEqual({
      kind: 'unknown',
      message: expect.stringContaining(message) as string,
    })
    const target = `${kind}://${connection}/letters`
    const parsed = parseSubscription({ id: 'a', topics: ['t'], sink: 'http://127.0.0.1', deadLetter: { target } })
    if (parsed.kind !== 'valid') throw new Error(JSON.stringify(parsed))
    expect(found.problemOf(parsed.subscription)).toContain(`deadLetter.target: ${target}: the connection ${connection}`)
  },
)

test('a token that is not known is named', async () => {
  const found = await accounts(file, (name) => (name === 'KEY' ? { kind: 'value', value: 'x' } : unknown(name)))
  expect(found.find('mns', 'theirs')).toMatchObject({
    message: 'the connection theirs: the secret TOKEN is not known',
  })
})

test.each([
  ['', 'BARNABAS_TARGETS_FILE: targets.yaml: targets: null is not a mapping'],
  ['a: [', 'BARNABAS_TARGETS_FILE: targets.yaml is neither YAML nor JSON'],
  ['a: { accessKeyId: x, accessKeySecret: hunter2 }', 'BARNABAS_TARGETS_FILE: targets.yaml: a.accessKeySecret: is not'],
])('%j is refused', async (text, message) => {
  const opened = await open(text)
  const refusal = opened.kind === 'invalid' ? opened.message : ''
  expect(refusal).toContain(message)
  expect(refusal).not.toContain('hunter2')
})
