import type { ApiDestination, ApiDestinations } from './api-destinations.ts'
import { clusterOfConnection, connectionFields } from './eventbridge-kafka.ts'
import type { KnownKafka } from './eventbridge-kafka.ts'
import { ignoreAt, isSaid, networkFields, onlyParametersAt, refuseSecretAt } from './eventbridge-place.ts'
import { constantAt, translateForm, translateUrl } from './eventbridge-transform.ts'
import { didYouMean } from './nearest-name.ts'
import type { Place } from './notation-place.ts'
import { comesFrom, fieldsAt, reportAt, textAt, warnAt, wordAt } from './notation-place.ts'
import { isMapping, readNumber, shown } from './subscription-field.ts'

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
}

const translated = [
  'SinkHttpsParameters',
  'SinkApiDestinationParameters',
  'SinkKafkaParameters',
  'SinkApacheKafkaParameters',
] as const
const httpsFields = ['URL', 'Body', 'Method', 'Token', ...networkFields] as const
const destinationFields = ['Name', 'BodyParameters', 'HeaderParameters', 'QueryStringParameters', 'Timeout'] as const
const timeoutMaxSeconds = 60
const nameLengthMax = 1_000
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

/** What a sink says of our fields, each absent when nothing is said. */
export interface TranslatedSink {
  readonly sink?: string
  readonly transform?: Readonly<Record<string, unknown>>
  readonly headers?: ApiDestination['headers']
  readonly timeout?: string
}

/** What of the place where a document is read decides what it means. */
export interface EventBridgeSurroundings extends KnownKafka {
  /** BARNABAS_DESTINATIONS_FILE; null without one. */
  readonly destinations: ApiDestinations | null
}

/** Reads `Sink` (spec page §1.7). */
export function translateSink(sink: Place, surroundings: EventBridgeSurroundings): TranslatedSink | undefined {
  const only = onlyParametersAt(sink, 'Sink', translated, otherSinks)
  if (only === undefined) return undefined
  const { name, parameters } = only
  if (name === 'SinkHttpsParameters') return httpsSink(parameters)
  if (name === 'SinkApiDestinationParameters') return destinationSink(parameters, surroundings.destinations)
  const fields = fieldsAt(parameters, [...kafkaFields, ...connectionFields])
  const ofBootstraps = clusterOfConnection(fields, surroundings)
  return kafkaSink(fields, ofBootstraps ?? clusterOfInstance(fields.InstanceId, surroundings))
}

/** An instance is another cluster where the file has one of that name. */
function clusterOfInstance({ value }: Place, { clusters }: KnownKafka): string | null {
  return typeof value === 'string' && clusters?.has(value) === true ? value : null
}

function httpsSink(parameters: Place): TranslatedSink {
  const fields = fieldsAt(parameters, httpsFields)
  const { Body, Method, Token } = fields
  ignoreAt(
    networkFields.map((each) => fields[each]),
    'ignored; which private networks may be reached says BARNABAS_ALLOWED_NETWORKS',
  )
  if (isSaid(Method)) wordAt(Method, ['POST'], { ignoringCase: true })
  refuseSecretAt(
    Token,
    'write `headers: { X-Token: { secret: NAME } }` beside `Sink` and set BARNABAS_SECRET_NAME of the services',
  )
  const body = translateForm(Body, 'body')
  const { sink, url } = translateUrl(fields.URL)
  const transform = { ...(body === undefined ? {} : { body }), ...(url === undefined ? {} : { url }) }
  return {
    ...(sink === undefined ? {} : { sink }),
    ...(Object.keys(transform).length === 0 ? {} : { transform }),
  }
}

function destinationSink(parameters: Place, destinations: ApiDestinations | null): TranslatedSink | undefined {
  const fields = fieldsAt(parameters, destinationFields)
  const { Name, BodyParameters, HeaderParameters, QueryStringParameters, Timeout } = fields
  if (isSaid(QueryStringParameters)) {
    const mend = "leave it out, and write the query into the destination's endpoint"
    reportAt(QueryStringParameters)(`is not possible here; ${mend}`)
  }
  const seconds =
    Timeout.value === undefined ? undefined : readNumber(Timeout.value, reportAt(Timeout), 1, timeoutMaxSeconds)
  comesFrom(Timeout, 'timeout')
  const body = translateForm(BodyParameters, 'body')
  const headers = translateForm(HeaderParameters, 'headers')
  const transform = { ...(body === undefined ? {} : { body }), ...(headers === undefined ? {} : { headers }) }
  const destination = destinationAt(Name, destinations)
  if (destination === undefined) return undefined
  comesFrom(Name, 'sink')
  comesFrom(Name, 'headers')
  return {
    sink: destination.endpoint,
    ...(destination.headers === undefined ? {} : { headers: destination.headers }),
    ...(seconds === undefined ? {} : { timeout: `${seconds}s` }),
    ...(Object.keys(transform).length === 0 ? {} : { transform }),
  }
}

function destinationAt(place: Place, destinations: ApiDestinations | null): ApiDestination | undefined {
  if (place.value === undefined) return reportAt(place)('is missing')
  const name = textAt(place, nameLengthMax)
  if (name === undefined) return undefined
  const found = destinations?.get(name)
  if (found !== undefined) return found
  const mend = `write \`${shown(name)}: { endpoint: https://… }\` into that file`
  if (destinations === null) return reportAt(place)(`BARNABAS_DESTINATIONS_FILE is not set; set it, and ${mend}`)
  const names = [...destinations.keys()]
  return reportAt(place)(`${shown(name)} is not in BARNABAS_DESTINATIONS_FILE${didYouMean(name, names)}; ${mend}`)
}

function kafkaSink(
  fields: Readonly<Record<(typeof kafkaFields)[number], Place>>,
  cluster: string | null,
): TranslatedSink | undefined {
  const { DynamicTopic, Key, Value, Headers, Acks, CompressionType, InstanceId } = fields
  if (isSaid(Acks)) {
    const { place, text } = constantAt(Acks)
    const acks = text === undefined ? undefined : wordAt({ ...place, value: text }, ['0', '1', 'all'])
    if (acks === '0' || acks === '1') warnAt(place, 'all in-sync replicas are waited for, always')
  }
  ignoreAt([CompressionType], 'ignored')
  const ofNetwork = networkFields.map((each) => fields[each])
  const where = cluster === null ? 'the topic is one of KAFKA_BROKERS' : `the topic is one of the cluster ${cluster}`
  ignoreAt([...(InstanceId.value === cluster ? [] : [InstanceId]), ...ofNetwork], `ignored; ${where}`)
  const parts = {
    key: translateForm(Key, 'key'),
    value: translateForm(Value, 'value'),
    headers: translateForm(Headers, 'headers'),
  }
  const transform = Object.fromEntries(Object.entries(parts).filter(([, form]) => form !== undefined))
  const { place, text } = topicAt(isSaid(DynamicTopic) ? DynamicTopic : fields.Topic)
  comesFrom(place, 'sink')
  if (text === undefined) return undefined
  return {
    sink: cluster === null ? `kafka:${text}` : `kafka://${cluster}/${text}`,
    ...(Object.keys(transform).length === 0 ? {} : { transform }),
  }
}

/** One topic for all events. `DynamicTopic` wins where both are written. */
function topicAt(place: Place) {
  const form = isMapping(place.value) ? place.value['Form'] : undefined
  if (form === undefined || form === 'CONSTANT') return constantAt(place)
  const mend = 'write one topic as CONSTANT, and a subscription for each of them'
  return { place, text: reportAt(place)(`${shown(form)} would let an event choose its topic; ${mend}`) }
}
