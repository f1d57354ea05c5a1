import { isClusterName } from './kafka-clusters.ts'
import { names, topicNameProblem } from './names.ts'
import { batchOf } from './subscription-batch.ts'
import type { WrittenBatch } from './subscription-batch.ts'
import type { DeliverySchema, Notation } from './schemas.ts'
import { isEventGridNotation } from './schemas.ts'
import type { Report, SubscriptionProblem } from './subscription-field.ts'
import { problemAt, shown } from './subscription-field.ts'

/** Where a subscription delivers to, if that is a Kafka topic. */
export interface KafkaSink {
  /** An entry of BARNABAS_CLUSTERS_FILE; null for the Kafka that Barnabas works on. */
  readonly cluster: string | null
  readonly topic: string
}

/** `kafka:<topic>` and `kafka://<cluster>/<topic>`; null for any other sink. */
export function kafkaSinkOf(sink: string): KafkaSink | null {
  if (!sink.startsWith('kafka:')) return null
  const rest = sink.slice('kafka:'.length)
  if (!rest.startsWith('//')) return { cluster: null, topic: rest }
  const [cluster = '', ...topic] = rest.slice(2).split('/')
  return { cluster, topic: topic.join('/') }
}

/** Reads a sink that begins with `kafka:`. */
export function readKafkaSink(sink: string, report: Report): string | undefined {
  const found = kafkaSinkOf(sink)
  if (found === null) return report(`${shown(sink)} is not a topic; write kafka:<topic> or kafka://<cluster>/<topic>`)
  const { cluster, topic } = found
  if (cluster !== null && !isClusterName(cluster)) {
    const mend = 'write kafka://<cluster>/<topic> with a name that stands in BARNABAS_CLUSTERS_FILE, or kafka:<topic>'
    return report(`${shown(cluster)} is not the name of a cluster; ${mend}`)
  }
  const problem = topicNameProblem(topic)
  return problem === null ? sink : report(`${shown(topic)} is not a topic: it ${problem}`)
}

interface WrittenBeside {
  readonly topics: readonly string[]
  readonly sink: string
  readonly notation?: Notation | undefined
  readonly schema?: DeliverySchema | undefined
  readonly handshake?: string | undefined
  readonly endpoint?: string | undefined
  readonly batch?: WrittenBatch | undefined
}

/** What can be said of a Kafka topic as sink only beside the other fields. */
export function problemsOfKafkaSink(written: WrittenBeside, prefix: string): SubscriptionProblem[] {
  const sink = kafkaSinkOf(written.sink)
  if (sink === null) return []
  const { notation, schema = 'CloudEventSchemaV1_0', handshake = 'none', endpoint = 'webhook', batch } = written
  const problems: SubscriptionProblem[] = []
  const refuse = (field: string, message: string) => problems.push(problemAt([field], message))
  const problem = sink.cluster === null ? problemOfOwnTopic(sink.topic, written.topics, prefix) : null
  if (problem !== null) refuse('sink', problem)
  if (notation !== undefined && isEventGridNotation(notation)) {
    refuse('sink', `a Kafka topic is not possible with notation: ${notation}, which knows webhooks alone`)
  }
  if (schema !== 'CloudEventSchemaV1_0') {
    refuse('schema', `${schema} is not possible with a Kafka topic as sink, which gets CloudEvents; leave it out`)
  }
  if (handshake !== 'none') refuse('handshake', 'is for webhooks; a Kafka topic is asked nothing: leave it out')
  if (endpoint !== 'webhook') refuse('endpoint', 'is for HTTP; leave it out with a Kafka topic as sink')
  const { maxEvents, windowMs = 0 } = batchOf(batch)
  if (maxEvents > 1 || windowMs > 0) {
    refuse(
      'batch',
      'is for webhooks; each event becomes a record of its own, and records travel together by themselves',
    )
  }
  return problems
}

/** Why a topic of the own cluster may be no sink: what is written there would come round again. Null for nothing. */
export function problemOfOwnTopic(topic: string, topics: readonly string[], prefix: string): string | null {
  const own = names(prefix)
  if (own.isInternal(topic) || topic === own.deadLetter) {
    return `${shown(topic)} is one of Barnabas's own topics; name another`
  }
  if (!topics.includes(topic)) return null
  return `${shown(topic)} is read by this subscription, which would deliver to itself for ever; name another topic`
}
