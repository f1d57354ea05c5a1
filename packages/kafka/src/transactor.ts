import kafkajs from 'kafkajs'
import type { Kafka, Message, Transaction } from 'kafkajs'
import { NotAuthorizedError, brokerErrorType, errorMessage, rootCause } from './kafka-error.ts'
import type { Transactor, TransactorOptions, TransactionResult } from './port.ts'

/** How long the broker may wait for the in-sync replicas. */
const ACKNOWLEDGE_TIMEOUT_MS = 8_000

/** What a broker says to one who is not the last to have started with this id, or whose transaction it took back. */
const FENCED = ['INVALID_PRODUCER_EPOCH', 'PRODUCER_FENCED']
/** The newer name's number: the client does not know the name. */
const PRODUCER_FENCED_CODE = 90

/**
 * Transactions of the client's own producer, which starts its producer id once and never again by itself: that would
 * fence whoever started meanwhile. For the same reason nothing goes on after a failure, and because its sequence
 * numbers are wrong from then on: a broker would take what comes next for doubled, and drop it.
 */
export function createTransactor(kafka: Kafka, { transactionalId, timeoutMs }: TransactorOptions): Transactor {
  const producer = kafka.producer({
    transactionalId,
    transactionTimeout: timeoutMs,
    maxInFlightRequests: 1,
    allowAutoTopicCreation: false,
    createPartitioner: kafkajs.Partitioners.DefaultPartitioner,
  })
  let isUsable = false

  async function write(records: Parameters<Transactor['write']>[0]): Promise<TransactionResult> {
    if (!isUsable) throw new Error(`the transactor ${transactionalId} was not started, or has failed`)
    isUsable = false
    let transaction: Transaction | null = null
    try {
      transaction = await producer.transaction()
      await send(transaction, records)
      await transaction.commit()
    } catch (error) {
      if (transaction?.isActive() === true) await transaction.abort().catch(() => undefined)
      return isFenced(error) ? { kind: 'fenced' } : { kind: 'failed', message: errorMessage(error) }
    }
    isUsable = true
    return { kind: 'committed' }
  }

  async function send(transaction: Transaction, records: Parameters<Transactor['write']>[0]): Promise<void> {
    const topicMessages = [...Map.groupBy(records, ({ topic }) => topic)].map(([topic, ofTopic]) => ({
      topic,
      messages: ofTopic.map(({ key, value, headers, partition }) => ({ key, value, headers, partition }) as Message),
    }))
    const written = await transaction.sendBatch({ topicMessages, acks: -1, timeout: ACKNOWLEDGE_TIMEOUT_MS })
    // The client resolves although a partition was never written when its leader moves in the middle (kafkajs #1798).
    for (const { topic, partition } of records) {
      const isCovered = written.some(
        (each) => each.topicName === topic && each.partition === partition && each.errorCode === 0,
      )
      if (!isCovered) throw new Error(`the broker's answer does not cover ${topic}/${partition}`)
    }
  }

  return {
    write,
    async start() {
      try {
        await producer.connect()
        // The first transaction asks for the producer's id, which is what fences; there is nothing to take back.
        await (await producer.transaction()).abort()
      } catch (error) {
        if (brokerErrorType(error) !== 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED') throw error
        throw new NotAuthorizedError(`write with transactional id ${transactionalId}`)
      }
      isUsable = true
    },
    async close() {
      isUsable = false
      await producer.disconnect()
    },
  }
}

function isFenced(error: unknown): boolean {
  const { type, code } = rootCause(error)
  return (type !== undefined && FENCED.includes(type)) || code === PRODUCER_FENCED_CODE
}
