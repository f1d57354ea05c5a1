import { expect, test } from 'vitest'
import { readTargetConnections } from './target-connections.ts'

const least = { accessKeyId: 'LTAI5tExample', accessKeySecret: { secret: 'ALIBABA' } }

test('B7: accounts are read by their names, secrets as names of secrets', () => {
  const written = {
    '123.cn-hangzhou': {
      ...least,
      mns: 'https://123.mns.cn-hangzhou.aliyuncs.com/',
      eventbridge: 'http://127.0.0.1:8080',
      securityToken: { secret: 'ALIBABA_TOKEN' },
    },
    empty: least,
    MQ_INST_1: {
      rocketmq: {
        endpoints: ['rocketmq.example.com:8081'],
        ssl: true,
        namespace: 'MQ_INST_1',
        username: 'me',
        password: { secret: 'ROCKETMQ' },
      },
    },
    own: { rocketmq: { endpoints: '127.0.0.1:8081, 127.0.0.1:8082' } },
  }
  const read = readTargetConnections(written)
  if (read.kind === 'invalid') throw new Error(JSON.stringify(read.problems))
  expect([...read.connections]).toEqual([
    ['123.cn-hangzhou', { ...written['123.cn-hangzhou'], mns: 'https://123.mns.cn-hangzhou.aliyuncs.com' }],
    ['empty', least],
    ['MQ_INST_1', written.MQ_INST_1],
    ['own', { rocketmq: { endpoints: ['127.0.0.1:8081', '127.0.0.1:8082'] } }],
  ])
})

test.each([
  [null, 'targets: null is not a mapping; write { ACCOUNT.REGION:'],
  [[], 'targets: [] is not a mapping'],
  [{ 'a/b': least }, '["a/b"]: is not the name of a connection'],
  [{ a: null }, 'a: '],
  [{ a: {} }, 'a.accessKeyId: is missing'],
  [{ a: { accessKeyId: 'x' } }, 'a.accessKeySecret: is missing; write { secret: NAME }'],
  [
    { a: { ...least, accessKeySecret: 'hunter2' } },
    'a.accessKeySecret: is not { secret: NAME }; a secret may not stand',
  ],
  [{ a: { ...least, securityToken: { secret: 'lower' } } }, 'a.securityToken: the name of a secret is upper-case'],
  [{ a: { ...least, mns: 'mns.example.com' } }, 'a.mns: "mns.example.com" is not an http(s) URL'],
  [{ a: { ...least, mns: 'ftp://mns.example.com' } }, 'is not an http(s) URL'],
  [{ a: { ...least, mns: 7 } }, 'a.mns: 7 is not text'],
  [{ a: { ...least, mns: 'https://me:hunter2@mns.example.com' } }, 'user name and password may not stand in the URL'],
  [{ a: { ...least, eventbridge: 'https://e.example.com/openapi' } }, 'write https://e.example.com'],
  [{ a: { ...least, smq: 'https://e.example.com' } }, 'a.smq: '],
  [{ a: { rocketmq: 'x:1' } }, 'a.rocketmq: "x:1" is not a mapping'],
  [{ a: { rocketmq: {} } }, 'a.rocketmq.endpoints: is missing'],
  [{ a: { rocketmq: { endpoints: [] } } }, 'a.rocketmq.endpoints: is empty; name at least one proxy as host:port'],
  [{ a: { rocketmq: { endpoints: ['x'] } } }, '"x" is not host:port, such as rocketmq.example.com:8081'],
  [{ a: { rocketmq: { endpoints: 'me:hunter2@x:1' } } }, 'user name and password may not stand here; write username'],
  [{ a: { rocketmq: { endpoints: 'x:1', ssl: 'yes' } } }, 'a.rocketmq.ssl: "yes" is neither true nor false'],
  [{ a: { rocketmq: { endpoints: 'x:1', username: 'me' } } }, 'a.rocketmq: username and password go together'],
  [
    { a: { rocketmq: { endpoints: 'x:1', username: 'me', password: 'hunter2' } } },
    'a.rocketmq.password: is not { secret: NAME }',
  ],
  [{ a: { rocketmq: { endpoints: 'x:1', tls: true } } }, 'a.rocketmq.tls: is not a known field'],
  [{ a: { rocketmq: { endpoints: 'x:1' }, ...least } }, 'a.accessKeyId: may not stand beside rocketmq'],
  [Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`a${index}`, least])), 'there are 101, more than 100'],
])('%j is refused', (root, message) => {
  const read = readTargetConnections(root)
  const problems = read.kind === 'invalid' ? read.problems.map((each) => each.message).join('\n') : ''
  expect(problems).toContain(message)
  expect(problems).not.toContain('hunter2')
})
