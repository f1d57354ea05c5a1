import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { takeMetadataOfAllAsItIs } from './metadata-of-all.ts'

const require = createRequire(import.meta.url)
const leaderNotAvailable = 5

interface Call {
  readonly response: { parse(data: unknown): Promise<unknown> }
}

function brokerWithLeaderlessPartition() {
  const Broker = require('kafkajs/src/broker') as new (options: object) => {
    lookupRequest: unknown
    metadata(topics: readonly string[]): Promise<unknown>
  }
  const partitionMetadata = [{ partitionErrorCode: leaderNotAvailable, partitionId: 0, leader: -1 }]
  const answer = { brokers: [], topicMetadata: [{ topicErrorCode: 0, topic: 'foreign', partitionMetadata }] }
  const connectionPool = { send: ({ response }: Call) => response.parse(answer) }
  const broker = new Broker({ connectionPool, logger: { namespace: () => ({}) } })
  const { parse } = require('kafkajs/src/protocol/requests/metadata/v0/response') as Call['response']
  broker.lookupRequest = () => () => ({ request: {}, response: { parse } })
  return { broker, answer }
}

test('a partition without a leader spoils only what is asked of its topic', async () => {
  takeMetadataOfAllAsItIs()
  const { broker, answer } = brokerWithLeaderlessPartition()
  expect(await broker.metadata([])).toBe(answer)
  await expect(broker.metadata(['foreign'])).rejects.toMatchObject({ type: 'LEADER_NOT_AVAILABLE' })
})
