import { expect, test } from 'vitest'
import { parseDeadLetterTarget, targetGroup, targetOfLetter, targetText } from './dead-letter-target.ts'
import type { TargetKind } from './dead-letter-target.ts'
import { parseSubscription } from './parse-subscription.ts'

test.each<[text: string, kind: TargetKind, connection: string, resource: string]>([
  ['kafka://audit/dead-letters', 'kafka', 'audit', 'dead-letters'],
  ['rocketmq://local/dlq', 'rocketmq', 'local', 'dlq'],
  ['mns://mine/q-1', 'mns', 'mine', 'q-1'],
  ['eventbridge://mine/default', 'eventbridge', 'mine', 'default'],
  ['acs:mns:cn-hangzhou:12:/queues/q', 'mns', '12.cn-hangzhou', 'q'],
  ['acs:mns:cn-hangzhou:12:queues/q', 'mns', '12.cn-hangzhou', 'q'],
  ['Acs:mns:cn-hangzhou:12:/queues/q', 'mns', '12.cn-hangzhou', 'q'],
  ['acs:mq:cn-shanghai:12:/instances/MQ_INST_12_BYWx/topic/testTopic', 'rocketmq', 'MQ_INST_12_BYWx', 'testTopic'],
  ['acs:mq:::instances/MQ_INST_1/topic/%DLQ%g', 'rocketmq', 'MQ_INST_1', '%DLQ%g'],
  ['acs:alikafka:cn-a:1:instance/alikafka_post-cn-1/topic/t.1', 'kafka', 'alikafka_post-cn-1', 't.1'],
  ['acs:eventbridge:cn-hangzhou:12:eventbus/b', 'eventbridge', '12.cn-hangzhou', 'b'],
])('%s (B7)', (text, kind, connection, resource) => {
  const target = { kind, connection, resource }
  expect(parseDeadLetterTarget(text)).toEqual({ kind: 'target', target })
  expect(parseDeadLetterTarget(targetText(target))).toEqual({ kind: 'target', target })
})

test.each([
  ['arn:aws:sqs:eu-west-1:1:q', 'names something of AWS'],
  ['arn:aws-cn:sqs:cn-north-1:1:q', 'names something of AWS'],
  ['/subscriptions/1/resourceGroups/g', 'names something of Azure'],
  ['projects/p/topics/t', 'names something of Google Cloud'],
  ['qcs::ckafka:gz::1', 'names something of Tencent Cloud'],
  ['arn:other:x', 'names something of another cloud'],
  ['acs:ram::1:role/x', 'is an ARN of "ram", where no dead letters are carried; write kafka://CLUSTER/TOPIC'],
  ['acs:mns:cn-hangzhou:1:/queues/', 'which looks like acs:mns:REGION:ACCOUNT:/queues/QUEUE'],
  ['acs:mns:cn-hangzhou:1', 'which looks like acs:mns:REGION:ACCOUNT:/queues/QUEUE'],
  ['acs:mns::1:/queues/q', 'names no region or no account'],
  ['acs:eventbridge:r::eventbus/b', 'names no region or no account'],
  ['acs:mq:r:1:/topic/t', 'which looks like acs:mq:'],
  ['acs:', 'is an ARN of ""'],
  ['kafka:orders-dead', 'is a topic of this Kafka; write deadLetter.topic'],
  ['kafka://audit', 'is a topic of this Kafka'],
  ['kafka:///t', 'has no name of a connection: ""'],
  ['kafka://a b/t', 'has no name of a connection: "a b"'],
  ['kafka://audit/', 'has no topic: "" is empty'],
  ['kafka://audit/a/b', 'has no topic: "a/b" may only contain'],
  ['rocketmq://local/', 'has no topic: "" is none'],
  [`rocketmq://local/${'t'.repeat(128)}`, 'which has 1 to 127'],
  [`mns://mine/${'q'.repeat(121)}`, 'which has 1 to 120'],
  ['mns://mine/-q', 'has no queue: "-q" is none'],
  ['eventbridge://mine/eventbridge-reserved-x', 'does not begin with eventbridge-reserved-'],
  ['https://example.com/q', 'is no target; write kafka://CLUSTER/TOPIC'],
  ['', 'is no target'],
  ['\u0000', 'is no target'],
])('%j is refused', (text, problem) => {
  expect(parseDeadLetterTarget(text)).toEqual({ kind: 'invalid', problem: expect.stringContaining(problem) as string })
})

test('different targets never share a consumer group', () => {
  const one = targetGroup({ kind: 'kafka', connection: 'a.b', resource: 'c' })
  const other = targetGroup({ kind: 'kafka', connection: 'a', resource: 'b.c' })
  expect([one, other]).toEqual(['kafka.a.b/c', 'kafka.a/b.c'])
})

const least = { id: 'orders', topics: ['orders'], sink: 'https://billing.example.com/' }

test.each(['rocketmq://local/t', 'mns://mine/q', 'eventbridge://mine/b', 'acs:mns:cn-hangzhou:1:queues/q'])(
  'the target %s is taken',
  (target) => {
    expect(parseSubscription({ ...least, deadLetter: { target } })).toMatchObject({ kind: 'valid' })
  },
)

test('a subscription names its target', () => {
  expect(parseSubscription({ ...least, deadLetter: { target: 'kafka://audit/letters' } })).toMatchObject({
    kind: 'valid',
    subscription: {
      deadLetter: {
        topic: 'barnabas.dead-letter',
        target: { kind: 'kafka', connection: 'audit', resource: 'letters' },
      },
    },
  })
})

test.each([
  [3, 'deadLetter.target: 3 is not text; put it in quotes: "3"'],
  ['', 'deadLetter.target: is empty'],
  ['x'.repeat(1_001), 'has 1001 characters, more than 1000'],
  ['arn:aws:sqs:eu:1:q', 'deadLetter.target: "arn:aws:sqs:eu:1:q" names something of AWS'],
])('the target %j is refused', (target, message) => {
  const parsed = parseSubscription({ ...least, deadLetter: { target } })
  const messages = parsed.kind === 'invalid' ? parsed.problems.map((each) => each.message) : []
  expect(messages).toEqual([expect.stringContaining(message)])
})

test.each([
  [{}, null],
  [{ 'barnabas-dead-letter-target': Buffer.from('kafka://a/b') }, 'kafka://a/b'],
  [{ 'barnabas-dead-letter-target': [Buffer.from('a'), Buffer.from('b')] }, null],
  [{ 'barnabas-dead-letter-target': null }, null],
])('the target of a record with %o', (headers, target) => {
  expect(targetOfLetter({ headers })).toBe(target)
})
