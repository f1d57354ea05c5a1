/**
 * Asks for topics and their ids: a topic that was deleted and made again under its name has another one. The client's own
 * Metadata requests end at version 6, and ids came with version 10 (KIP-516, Kafka 2.8), so this is a request of our own
 * in the flexible format (KIP-482): lengths are varints, one higher, and each structure ends with tagged fields. And the
 * client's own fails as a whole when one of the topics has a partition without a leader.
 */
import { decoderOf, emptyEncoder } from './kafkajs-internals.ts'
import type { Broker, Decoder, Encoder } from './kafkajs-internals.ts'

const METADATA = 3
const VERSION = 10
const UUID_BYTES = 16
const NO_UUID = Buffer.alloc(UUID_BYTES)
/** No list at all. */
const ALL = 0
/** An empty list of tagged fields, behind every structure. */
const NO_TAGS = 0

/**
 * The ids (in base64url, 22 characters) of those that exist, of all topics for `'all'`; null when the broker is too old
 * to tell them.
 */
export async function askTopicIds(
  broker: Broker,
  topics: readonly string[] | 'all',
): Promise<ReadonlyMap<string, string> | null> {
  const known = broker.versions?.[METADATA]
  if (known === undefined || known.maxVersion < VERSION || known.minVersion > VERSION) return null
  return await broker.connectionPool.send({
    request: {
      apiKey: METADATA,
      apiVersion: VERSION,
      apiName: 'Metadata',
      encode: () => Promise.resolve(encodeRequest(topics)),
    },
    response: {
      decode: (payload) => Promise.resolve({ ids: decodeResponse(payload) }),
      parse: ({ ids }) => Promise.resolve(ids),
    },
  })
}

function encodeRequest(topics: readonly string[] | 'all'): Encoder {
  // The client writes the header of an unflexible request; what it lacks of a flexible one are its tagged fields.
  const request = emptyEncoder()
    .writeUVarInt(NO_TAGS)
    .writeUVarInt(topics === 'all' ? ALL : topics.length + 1)
  for (const topic of topics === 'all' ? [] : topics)
    request.writeBuffer(NO_UUID).writeUVarIntString(topic).writeUVarInt(NO_TAGS)
  const [mayCreateTopics, withRightsToCluster, withRightsToTopics] = [false, false, false]
  return request
    .writeBoolean(mayCreateTopics)
    .writeBoolean(withRightsToCluster)
    .writeBoolean(withRightsToTopics)
    .writeUVarInt(NO_TAGS)
}

function decodeResponse(payload: Buffer): ReadonlyMap<string, string> {
  const response = decoderOf(payload)
  skipTags(response)
  response.readInt32() // throttle time
  response.readUVarIntArray(skipBroker)
  response.readUVarIntString() // id of the cluster
  response.readInt32() // controller
  const topics = response.readUVarIntArray(readTopic) ?? []
  return new Map(topics.flatMap(({ topic, id }) => (topic === null || id === null ? [] : [[topic, id] as const])))
}

function skipBroker(response: Decoder): void {
  response.readInt32() // id
  response.readUVarIntString() // host
  response.readInt32() // port
  response.readUVarIntString() // rack
  skipTags(response)
}

function readTopic(response: Decoder): { readonly topic: string | null; readonly id: string | null } {
  const errorCode = response.readInt16()
  const topic = response.readUVarIntString()
  const id = Buffer.from(response.readBytes(UUID_BYTES))
  response.readBoolean() // internal
  response.readUVarIntArray(skipPartition)
  response.readInt32() // our rights
  skipTags(response)
  // A topic without leaders now has its id all the same; one that is missing has none.
  return { topic, id: id.equals(NO_UUID) || errorCode === UNKNOWN_TOPIC ? null : id.toString('base64url') }
}

const UNKNOWN_TOPIC = 3

function skipPartition(response: Decoder): void {
  response.readInt16() // error
  response.readInt32() // index
  response.readInt32() // leader
  response.readInt32() // its epoch
  for (let lists = ['replicas', 'in sync', 'offline'].length; lists > 0; lists--) {
    response.readUVarIntArray((list) => list.readInt32())
  }
  skipTags(response)
}

/** The client's own way to skip them goes over each twice. */
function skipTags(response: Decoder): void {
  for (let tags = response.readUVarInt(); tags > 0; tags--) {
    response.readUVarInt()
    response.readBytes(response.readUVarInt())
  }
}
