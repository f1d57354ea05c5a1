import type { DeadLetterShape, KafkaRecord } from '@barnabas/core'
import type { RocketMqConnection, UnknownConnection } from '@barnabas/host'
import type { Producer } from 'rocketmq-client-nodejs'
import { letterEvent } from './letter-event.ts'
import { closedWithin, unlessStopped } from './target-limits.ts'
import { accepted, inParts, inTurn, refused, unavailable } from './target-write.ts'
import type { Target, TargetWrite } from './target.ts'

export interface RocketMqTargetOptions {
  readonly topic: string
  /** The RocketMQ as it is known now; its password may be another the next time. */
  readonly connection: () => RocketMqConnection | UnknownConnection
  readonly shapeOf: (subscriptionId: string) => DeadLetterShape
  /** How long `close` waits for a RocketMQ that does not answer, 1 s by default. */
  readonly closeWithinMs?: number
}

/** Messages that are on their way at once: the client sends one per request. */
const messagesAtOnce = 8
const requestTimeoutMs = 10_000

/**
 * A topic of a RocketMQ 5, through its proxy (row B7): the dead letter as a CloudEvent, found by where it stands in the
 * dead-letter topic (`keys`). Accepted when the broker has it as its topic's replication asks. What an operator mends (a
 * topic that is missing, rights, a password) is tried again; what RocketMQ refuses because of the message itself is
 * refused for good.
 */
export function createRocketMqTarget(options: RocketMqTargetOptions): Target {
  const { topic, connection, shapeOf, closeWithinMs = 1_000 } = options
  let present: { readonly of: string; readonly producer: Promise<Producer> } | undefined
  const closing = new Set<Promise<void>>()

  function producerOf(found: RocketMqConnection): Promise<Producer> {
    const of = JSON.stringify(found)
    if (present?.of === of) return present.producer
    letGo()
    present = { of, producer: openProducer(found) }
    return present.producer
  }

  function letGo(): void {
    if (present === undefined) return
    const closed: Promise<void> = present.producer
      .then((producer) => producer.shutdown())
      .catch(() => undefined)
      .finally(() => closing.delete(closed))
    closing.add(closed)
    present = undefined
  }

  async function send(producer: Producer, letter: KafkaRecord): Promise<TargetWrite> {
    try {
      await producer.send({
        topic,
        body: Buffer.from(letterEvent(letter, shapeOf)),
        keys: [`${letter.topic}/${letter.partition}/${letter.offset}`],
        properties: propertiesOf(letter),
      })
      return accepted
    } catch (error) {
      return writeOf(error)
    }
  }

  async function attempt(letters: readonly KafkaRecord[]): Promise<readonly TargetWrite[]> {
    const found = connection()
    if (found.kind === 'unknown') return letters.map(() => unavailable(found.message))
    try {
      const producer = await producerOf(found)
      return await inTurn(inParts(letters, messagesAtOnce), (part) =>
        Promise.all(part.map((letter) => send(producer, letter))),
      )
    } catch (error) {
      letGo()
      return letters.map(() => writeOf(error))
    }
  }

  return {
    write: (letters, signal) => unlessStopped(letters, signal, () => attempt(letters)),
    async close() {
      letGo()
      await closedWithin(closeWithinMs, closing)
    },
  }
}

/** Connects to nothing yet: a producer without topics asks for its topic's route when it sends. */
async function openProducer({ endpoints, isSecure, namespace, login }: RocketMqConnection): Promise<Producer> {
  // Loaded by who has such a target: it would be a part of every start.
  const client = await import('rocketmq-client-nodejs')
  const producer = new client.Producer({
    endpoints: endpoints.join(';'),
    sslEnabled: isSecure,
    namespace,
    ...(login && { sessionCredentials: { accessKey: login.username, accessSecret: login.password } }),
    requestTimeout: requestTimeoutMs,
    // Whoever carries tries again.
    maxAttempts: 1,
    // Without one it writes files below the home of its user. What matters comes as an error.
    logger: { info() {}, warn() {}, error() {} },
  })
  await producer.startup()
  return producer
}

const shownHeaders = ['barnabas-subscription', 'barnabas-dead-letter-reason', 'barnabas-attempts'] as const

/** What a consumer may select by; the event has all that is known. */
function propertiesOf({ headers }: KafkaRecord): Map<string, string> {
  const properties = new Map([['content-type', 'application/cloudevents+json']])
  for (const name of shownHeaders) {
    const value = headers[name]
    if (Buffer.isBuffer(value)) properties.set(name, value.toString('utf8'))
  }
  return properties
}

/**
 * The codes of RocketMQ 5 that are about the message itself: ILLEGAL_MESSAGE_KEY, ILLEGAL_MESSAGE_PROPERTY_KEY,
 * MESSAGE_CORRUPTED, MESSAGE_BODY_TOO_LARGE, MESSAGE_BODY_EMPTY, MESSAGE_PROPERTIES_TOO_LARGE.
 */
const finalCodes = new Set([40_005, 40_007, 40_016, 41_301, 41_302, 43_101])

function writeOf(error: unknown): TargetWrite {
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code === 'number' && finalCodes.has(code)) return refused(String(code), message)
  // The client knows the broker's limit, and sends no larger message.
  if (error instanceof TypeError && /size exceeds/.test(message)) return refused('MESSAGE_BODY_TOO_LARGE', message)
  return unavailable(message)
}
