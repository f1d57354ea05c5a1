import { checkConnection, connectionFields } from './eventbridge-kafka.ts'
import {
  ignoreAt,
  isSaid,
  mappingAt,
  networkFields,
  onlyParametersAt,
  openedAt,
  refuseSecretAt,
} from './eventbridge-place.ts'
import type { Place } from './notation-place.ts'
import { comesFrom, fieldsAt, reportAt, textAt, wordAt } from './notation-place.ts'

const urlLengthMax = 10_000
const topicLengthMax = 1_000

/** The end of each sentence: what to do instead. */
const viaHttps = 'let an HTTP endpoint of yours hand the events on, and write SinkHttpsParameters with its URL'
const otherSinks: Readonly<Record<string, string>> = {
  SinkMNSParameters: `Simple Message Queue gets nothing from here; ${viaHttps}`,
  SinkRocketMQParameters: `RocketMQ gets nothing from here; ${viaHttps}`,
  SinkRocketMQCheckpointParameters: `RocketMQ gets nothing from here; ${viaHttps}`,
  SinkApacheRocketMQCheckpointParameters: `RocketMQ gets nothing from here; ${viaHttps}`,
  SinkRabbitMQParameters: `RabbitMQ gets nothing from here; ${viaHttps}`,
  SinkRabbitMQMetaParameters: `RabbitMQ gets nothing from here; ${viaHttps}`,
  SinkRabbitMQMsgSyncParameters: `RabbitMQ gets nothing from here; ${viaHttps}`,
  SinkOpenSourceRabbitMQParameters: `RabbitMQ gets nothing from here; ${viaHttps}`,
  SinkCustomizedKafkaParameters: `custom Kafka gets nothing from here; write SinkApacheKafkaParameters with its Topic`,
  SinkCustomizedKafkaConnectorParameters: `connectors do not run here; ${viaHttps}`,
  SinkFcParameters:
    'functions are not called by name here; give the function an HTTP trigger, and write SinkHttpsParameters with its URL',
  SinkFnfParameters: `workflows are not started by name here; ${viaHttps}`,
  SinkSLSParameters: `Simple Log Service gets nothing from here; ${viaHttps}`,
  SinkDataHubParameters: `DataHub gets nothing from here; ${viaHttps}`,
  SinkMQTTParameters: `MQTT gets nothing from here; ${viaHttps}`,
  SinkOSSParameters: `object storage gets nothing from here; ${viaHttps}`,
  SinkPrometheusParameters: `Prometheus gets nothing from here; ${viaHttps}`,
  SinkDorisParameters: `databases get nothing from here; ${viaHttps}`,
  SinkDashVectorParameters: `databases get nothing from here; ${viaHttps}`,
  SinkEventHouseParameters: `databases get nothing from here; ${viaHttps}`,
  SinkBaiLianParameters: `models are not asked from here; ${viaHttps}`,
  SinkAgentRunParameters: `agents are not called by name here; ${viaHttps}`,
  SinkDataWorksTriggerParameters: `DataWorks is not triggered from here; ${viaHttps}`,
  SinkApiDestinationParameters:
    'API destinations (BARNABAS_DESTINATIONS_FILE) are not available in this version; write SinkHttpsParameters with the URL, and `headers: { Authorization: { secret: NAME } }` beside `Sink` for what it asks for',
}

const translated = ['SinkHttpsParameters', 'SinkKafkaParameters', 'SinkApacheKafkaParameters']
const httpsFields = ['URL', 'Body', 'Method', 'Token', ...networkFields] as const
const kafkaFields = [
  'InstanceId',
  'Topic',
  'DynamicTopic',
  'Key',
  'Value',
  'Headers',
  'Acks',
  'CompressionType',
  ...networkFields,
] as const

/** Reads `Sink` (spec page §1.7). */
export function translateSink(sink: Place, brokers: readonly string[] | null): string | undefined {
  const only = onlyParametersAt(sink, 'Sink', [...translated, ...Object.keys(otherSinks)])
  if (only === undefined) return undefined
  const { name, parameters } = only
  const refusal = Object.hasOwn(otherSinks, name) ? otherSinks[name] : undefined
  if (refusal !== undefined) return reportAt(parameters)(refusal)
  if (name === 'SinkHttpsParameters') return httpsSink(parameters)
  const fields = fieldsAt(parameters, [...kafkaFields, ...connectionFields])
  checkConnection(fields, brokers)
  return kafkaSink(fields)
}

function httpsSink(parameters: Place): string | undefined {
  const fields = fieldsAt(parameters, httpsFields)
  const { URL: url, Body, Method, Token } = fields
  ignoreAt(
    networkFields.map((each) => fields[each]),
    'ignored; which private networks may be reached says BARNABAS_ALLOWED_NETWORKS',
  )
  if (isSaid(Method)) wordAt(Method, ['POST'], { ignoringCase: true })
  refuseSecretAt(
    Token,
    'write `headers: { X-Token: { secret: NAME } }` beside `Sink` and set BARNABAS_SECRET_NAME of the services',
  )
  checkWhole(Body)
  const { place, text } = constantAt(url, urlLengthMax)
  comesFrom(place, 'sink')
  return text
}

function kafkaSink(fields: Readonly<Record<(typeof kafkaFields)[number], Place>>): string | undefined {
  const { Topic, DynamicTopic, Key, Value, Headers, Acks, CompressionType, InstanceId } = fields
  if (isSaid(DynamicTopic)) reportAt(DynamicTopic)('is not available in this version; write Topic')
  for (const place of [Key, Headers]) {
    if (isSaid(place)) reportAt(place)('is not available in this version; leave it out')
  }
  checkWhole(Value)
  if (isSaid(Acks)) {
    const acks = constantAt(Acks, 10)
    if (acks.text !== undefined) wordAt({ ...acks.place, value: acks.text }, ['0', '1', 'all'])
  }
  ignoreAt([CompressionType], 'ignored')
  ignoreAt([InstanceId, ...networkFields.map((each) => fields[each])], 'ignored; the topic is one of KAFKA_BROKERS')
  const { place, text } = constantAt(Topic, topicLengthMax)
  comesFrom(place, 'sink')
  return text === undefined ? undefined : `kafka:${text}`
}

const formFields = ['Form', 'Value', 'Template'] as const
const forms = ['ORIGINAL', 'CONSTANT', 'JSONPATH', 'TEMPLATE'] as const

/** A transform that has to be a constant; plain text is one too. */
function constantAt(place: Place, lengthMax: number): { readonly place: Place; readonly text: string | undefined } {
  if (place.value === undefined) return { place, text: reportAt(place)('is missing') }
  if (typeof place.value === 'string' && !place.value.trim().startsWith('{')) {
    return { place, text: textAt(place, lengthMax) }
  }
  const { Form, Value, Template } = formAt(place)
  const form = Form.value === undefined ? 'CONSTANT' : wordAt(Form, forms)
  if (form !== undefined && form !== 'CONSTANT') {
    return { place: Form, text: reportAt(Form)(`${form} is not available in this version; only CONSTANT`) }
  }
  ignoreAt([Template], 'ignored; only Value counts with CONSTANT')
  if (Value.value === undefined) reportAt(Value)('is missing')
  return { place: Value, text: textAt(Value, lengthMax) }
}

/** A transform of the event that has to leave it whole. */
function checkWhole(place: Place): void {
  if (!isSaid(place)) return
  const { Form, Value, Template } = formAt(place)
  const form = Form.value === undefined ? 'ORIGINAL' : wordAt(Form, forms)
  if (form === undefined) return
  if (form !== 'ORIGINAL') reportAt(Form)(`${form} is not available in this version; only ORIGINAL, the whole event`)
  else ignoreAt([Value, Template], 'ignored; ORIGINAL is the whole event')
}

function formAt(place: Place) {
  const opened = openedAt(place)
  const value = mappingAt(opened, '{ "Form": "CONSTANT", "Value": "…" }')
  return fieldsAt(value === undefined ? { ...opened, value: undefined } : opened, formFields)
}
