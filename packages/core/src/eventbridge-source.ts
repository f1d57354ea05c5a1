import { checkConnection, connectionFields } from './eventbridge-kafka.ts'
import { ignoreAt, isSaid, networkFields, onlyParametersAt } from './eventbridge-place.ts'
import type { RecordValueType } from './kafka-record-event.ts'
import type { Place } from './notation-place.ts'
import { comesFrom, fieldsAt, reportAt, textAt, wordAt } from './notation-place.ts'
import { shown } from './subscription-field.ts'

const textLengthMax = 1_000

/** What a source says of our fields. */
export interface TranslatedSource {
  readonly topics: readonly string[]
  readonly from?: 'latest' | 'earliest'
  readonly input: 'kafka-record'
  readonly kafkaRecord: { readonly valueType: RecordValueType; readonly instance?: string }
}

/** The end of each sentence: what to do instead. */
const viaKafka = 'let a connector write its events into a Kafka topic, and write SourceKafkaParameters with that Topic'
const otherSources: Readonly<Record<string, string>> = {
  SourceMNSParameters: `Simple Message Queue is not read here; ${viaKafka}`,
  SourceRocketMQParameters: `RocketMQ is not read here; ${viaKafka}`,
  SourceRocketMQCheckpointParameters: `RocketMQ is not read here; ${viaKafka}`,
  SourceApacheRocketMQCheckpointParameters: `RocketMQ is not read here; ${viaKafka}`,
  SourceRabbitMQParameters: `RabbitMQ is not read here; ${viaKafka}`,
  SourceRabbitMQMetaParameters: `RabbitMQ is not read here; ${viaKafka}`,
  SourceRabbitMQMsgSyncParameters: `RabbitMQ is not read here; ${viaKafka}`,
  SourceOpenSourceRabbitMQParameters: `RabbitMQ is not read here; ${viaKafka}`,
  SourceCustomizedKafkaParameters: 'custom Kafka is not read here; write SourceApacheKafkaParameters with its Topic',
  SourceCustomizedKafkaConnectorParameters: `connectors do not run here; run it in Kafka Connect, and write SourceKafkaParameters with the Topic that it writes`,
  SourceMQTTParameters: `MQTT is not read here; ${viaKafka}`,
  SourceSLSParameters: `Simple Log Service is not read here; ${viaKafka}`,
  SourceDTSParameters: `a data subscription is a Kafka topic of Alibaba's own protocol and is not read here; ${viaKafka}`,
  SourceOSSParameters: `object storage is not read here; ${viaKafka}`,
  SourcePrometheusParameters: `Prometheus is not read here; ${viaKafka}`,
  SourceEventBusParameters: `an event bus is not read here; ${viaKafka}`,
  SourceJDBCParameters: `databases are not read here; ${viaKafka}`,
  SourceMySQLParameters: `databases are not read here; ${viaKafka}`,
  SourcePostgreSQLParameters: `databases are not read here; ${viaKafka}`,
  SourceFeiShuDocsParameters: `documents are not read here; ${viaKafka}`,
}

const kafkaFields = ['InstanceId', 'Topic', 'ConsumerGroup', 'OffsetReset', 'ValueDataType', ...networkFields] as const

/** Reads `Source` (spec page §1.6): a topic of the Kafka that Barnabas works on. */
export function translateSource(source: Place, brokers: readonly string[] | null): TranslatedSource | undefined {
  const only = onlyParametersAt(
    source,
    'Source',
    ['SourceKafkaParameters', 'SourceApacheKafkaParameters'],
    otherSources,
  )
  if (only === undefined) return undefined
  const { name, parameters } = only
  if (name === 'SourceKafkaParameters') return kafkaSource(fieldsAt(parameters, kafkaFields))
  const fields = fieldsAt(parameters, [...kafkaFields, ...connectionFields])
  checkConnection(fields, brokers)
  return kafkaSource(fields)
}

function kafkaSource(fields: Readonly<Record<(typeof kafkaFields)[number], Place>>): TranslatedSource {
  const { InstanceId, Topic, ConsumerGroup, OffsetReset, ValueDataType } = fields
  if (Topic.value === undefined) reportAt(Topic)('is missing')
  const topic = textAt(Topic, textLengthMax)
  comesFrom(Topic, 'topics')
  comesFrom(Topic, 'topics', 0)
  comesFrom(InstanceId, 'kafkaRecord', 'instance')
  if (isSaid(ConsumerGroup)) {
    reportAt(ConsumerGroup)(
      `${shown(ConsumerGroup.value)} cannot be joined: the group is named after the id; leave it out`,
    )
  }
  ignoreAt(
    networkFields.map((each) => fields[each]),
    'ignored; the topic is read from KAFKA_BROKERS',
  )
  const from = isSaid(OffsetReset) ? wordAt(OffsetReset, ['latest', 'earliest'], { ignoringCase: true }) : undefined
  const type = isSaid(ValueDataType)
    ? wordAt(ValueDataType, ['Text', 'JSON', 'Binary'], { ignoringCase: true })
    : undefined
  const instance = isSaid(InstanceId) ? textAt(InstanceId, textLengthMax) : undefined
  return {
    topics: topic === undefined ? [] : [topic],
    ...(from === undefined ? {} : { from }),
    input: 'kafka-record',
    kafkaRecord: {
      valueType: type === 'JSON' ? 'json' : type === 'Binary' ? 'binary' : 'text',
      ...(instance === undefined ? {} : { instance }),
    },
  }
}
