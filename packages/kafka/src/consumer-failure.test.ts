import kafkajs from 'kafkajs'
import { describe, expect, test } from 'vitest'
import { UnknownCodecError } from './codecs.ts'
import { classifyFailure, mayPass } from './consumer-failure.ts'

/** The broker's refusal as the client throws it, inside what its retries wrap around it. */
function refused(type: string, message: string): Error {
  const protocol = new kafkajs.KafkaJSProtocolError(Object.assign(new Error(message), { type, code: 0 }))
  return Object.assign(new kafkajs.KafkaJSNonRetriableError(protocol), { cause: protocol })
}

describe('classifyFailure', () => {
  test.each([
    {
      error: Object.assign(new UnknownCodecError('lz4'), { topic: 'orders', partition: 3 }),
      code: 'UNKNOWN_CODEC',
      message: 'partition 3 of topic orders holds records compressed with lz4, which is not known here',
    },
    {
      error: refused('UNKNOWN_TOPIC_OR_PARTITION', 'This server does not host this topic-partition'),
      code: 'UNKNOWN_TOPIC',
      message: 'topic orders, payments does not exist',
    },
    {
      error: refused('GROUP_AUTHORIZATION_FAILED', 'Not authorized to access group'),
      code: 'NOT_AUTHORIZED',
      message: 'not authorized to use consumer group shop',
    },
    {
      error: Object.assign(new Error('Authentication failed'), {
        name: 'KafkaJSSASLAuthenticationError',
        retriable: false,
      }),
      code: 'NOT_AUTHORIZED',
      message: 'not authorized to read topic orders, payments: Authentication failed',
    },
    {
      error: new TypeError('x is undefined'),
      code: 'OTHER',
      message: 'topic orders, payments cannot be read: x is undefined',
    },
  ])('$code', ({ error, code, message }) => {
    expect(classifyFailure(error, ['orders', 'payments'], 'shop')).toEqual({ code, message })
  })
})

describe('mayPass', () => {
  const named = (name: string) => Object.assign(new Error(name), { name, retriable: false })
  test.each([
    { error: named('KafkaJSGroupCoordinatorNotFound'), expected: true },
    { error: named('KafkaJSLockTimeout'), expected: true },
    { error: named('KafkaJSTimeout'), expected: true },
    {
      error: Object.assign(new kafkajs.KafkaJSNonRetriableError('x'), { cause: named('KafkaJSTimeout') }),
      expected: true,
    },
    { error: refused('UNKNOWN', 'The server experienced an unexpected error'), expected: true },
    { error: refused('BROKER_NOT_AVAILABLE', 'not available'), expected: true },
    { error: refused('UNKNOWN_MEMBER_ID', 'not aware of this member'), expected: true },
    { error: refused('GROUP_AUTHORIZATION_FAILED', 'not authorized'), expected: false },
    { error: refused('UNKNOWN_TOPIC_OR_PARTITION', 'does not host'), expected: false },
    { error: refused('INCONSISTENT_GROUP_PROTOCOL', 'another protocol'), expected: false },
    { error: new UnknownCodecError('lz4'), expected: false },
    { error: new TypeError('x is undefined'), expected: false },
    { error: 'garbage', expected: false },
    { error: undefined, expected: false },
  ])('$error: $expected', ({ error, expected }) => {
    expect(mayPass(error)).toBe(expected)
  })
})
