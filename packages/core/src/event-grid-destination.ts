import { headersOf } from './event-grid-headers.ts'
import type { Place } from './notation-place.ts'
import {
  comesFrom,
  fieldsAt,
  fieldsWithProperties,
  placeAt,
  reportAt,
  textAt,
  warnAt,
  wordAt,
} from './notation-place.ts'
import { isMapping, readNumber } from './subscription-field.ts'

const urlLengthMax = 10_000

/** What the destination and its identity say of our fields, each absent when nothing is said. */
export interface TranslatedDestination {
  readonly sink?: string
  readonly batch?: Readonly<Record<string, unknown>>
  readonly headers?: Readonly<Record<string, unknown>>
  /** Where document 004 writes it. */
  readonly schemaPlace: Place | null
}

const webhookFields = [
  'endpointUrl',
  'endpointBaseUrl',
  'maxEventsPerBatch',
  'preferredBatchSizeInKilobytes',
  'azureActiveDirectoryTenantId',
  'azureActiveDirectoryApplicationIdOrUri',
  'minimumTlsVersionAllowed',
  'deliveryAttributeMappings',
  'eventDeliverySchema',
] as const

const resourceFields = [
  'resourceId',
  'queueName',
  'queueMessageTimeToLiveInSeconds',
  'severity',
  'description',
  'actionGroups',
] as const

/** The end of each sentence: what to do instead of what has no meaning here. */
const nearest: Readonly<Record<string, string>> = {
  AzureFunction:
    "write the function's URL: endpointType WebHook, endpointUrl https://APP.azurewebsites.net/runtime/webhooks/EventGrid?functionName=NAME&code=KEY",
  EventHub:
    'write its HTTP address beside `properties`: `sink: https://NAMESPACE.servicebus.windows.net/HUB/messages`, `endpoint: azure`, `headers: { Authorization: { secret: NAME } }`',
  ServiceBusQueue:
    'write its HTTP address beside `properties`: `sink: https://NAMESPACE.servicebus.windows.net/QUEUE/messages`, `endpoint: azure`, `headers: { Authorization: { secret: NAME } }`',
  ServiceBusTopic:
    'write its HTTP address beside `properties`: `sink: https://NAMESPACE.servicebus.windows.net/TOPIC/messages`, `endpoint: azure`, `headers: { Authorization: { secret: NAME } }`',
  HybridConnection:
    'write its HTTP address beside `properties`: `sink: https://NAMESPACE.servicebus.windows.net/CONNECTION`, `endpoint: azure`, `headers: { ServiceBusAuthorization: { secret: NAME } }`',
  StorageQueue: 'a webhook of yours may put the messages there: write its URL beside `properties`: `sink: https://…`',
  PartnerDestination: "write the partner's URL beside `properties`: `sink: https://…`",
  MonitorAlert: 'write the URL of a webhook that raises the alert beside `properties`: `sink: https://…`',
  NamespaceTopic:
    'write its HTTP address beside `properties`: `sink: https://NAMESPACE.REGION-1.eventgrid.azure.net/topics/TOPIC:publish?api-version=2023-11-01`, `headers: { Authorization: { secret: NAME } }`',
}
const endpointTypes = ['WebHook', ...Object.keys(nearest)]

/** Reads `destination`, or the one in `deliveryWithResourceIdentity`. `own` is what stands beside `properties`. */
export function translateDestination(
  destination: Place,
  withIdentity: Place,
  own: Readonly<Record<string, unknown>>,
): TranslatedDestination {
  const place = destinationPlace(destination, withIdentity)
  if (place.value === undefined) {
    if (!Object.hasOwn(own, 'sink')) {
      const mend = 'write { "endpointType": "WebHook", "properties": { "endpointUrl": "https://…" } }'
      reportAt(place)(`is missing, and a subscription is applied whole, as with PUT; ${mend}`)
    }
    return { schemaPlace: null }
  }
  const type = wordAt(placeAt(place, 'endpointType'), endpointTypes, { ignoringCase: true })
  const typePlace = placeAt(place, 'endpointType')
  if (typePlace.value === undefined) reportAt(typePlace)('is missing; write WebHook')
  if (type === undefined) return { schemaPlace: null }
  if (type !== 'WebHook') {
    if (!Object.hasOwn(own, 'sink')) {
      reportAt(typePlace)(`${type} is no destination here, only WebHook is; ${nearest[type]}`)
      return { schemaPlace: null }
    }
    warnAt(typePlace, `${type} gets nothing from here; \`sink\`, beside \`properties\`, is delivered to instead`)
  }
  const known = type === 'WebHook' ? webhookFields : ([...webhookFields, ...resourceFields] as const)
  const fields = fieldsWithProperties<'endpointType', (typeof webhookFields)[number]>(
    place,
    ['endpointType'],
    known as typeof webhookFields,
  )
  checkAuthorization(fields, own)
  checkTls(fields.minimumTlsVersionAllowed)
  const sink = type === 'WebHook' && !Object.hasOwn(own, 'sink') ? sinkOf(fields) : undefined
  const batch = batchOf(fields.maxEventsPerBatch, fields.preferredBatchSizeInKilobytes)
  const headers = headersOf(fields.deliveryAttributeMappings, own['headers'])
  return {
    ...(sink === undefined ? {} : { sink }),
    ...(batch === null ? {} : { batch }),
    ...(headers === null ? {} : { headers }),
    schemaPlace: fields.eventDeliverySchema.value === undefined ? null : fields.eventDeliverySchema,
  }
}

function destinationPlace(destination: Place, withIdentity: Place): Place {
  if (withIdentity.value === undefined) return destination
  const { identity, destination: inner } = fieldsAt(withIdentity, ['identity', 'destination'])
  if (destination.value !== undefined) reportAt(withIdentity)('stands beside destination; write only one of the two')
  if (identity.value !== undefined) {
    const instead = 'what the receiver asks for is sent with `headers: { Authorization: { secret: NAME } }`'
    warnAt(identity, `is ignored, for there are no managed identities here; ${instead} beside \`properties\``)
  }
  return inner
}

function sinkOf({ endpointUrl, endpointBaseUrl }: Readonly<Record<'endpointUrl' | 'endpointBaseUrl', Place>>) {
  comesFrom(endpointUrl, 'sink')
  if (endpointUrl.value !== undefined) {
    const url = textAt(endpointUrl, urlLengthMax)
    if (url === undefined || !/[?&]([^=&#]*=)?\*\*\*(&|#|$)/.test(url)) return url
    return reportAt(endpointUrl)('its query was masked with *** where it was taken from; write it as it is')
  }
  if (endpointBaseUrl.value === undefined) return reportAt(endpointUrl)('is missing; write https://…')
  const why = "Azure's answers show endpointBaseUrl alone, without the query"
  return reportAt(endpointUrl)(
    `is missing: ${why}; take the whole URL with \`az eventgrid event-subscription show --include-full-endpoint-url\``,
  )
}

/** Rows A11 and C1; what one of the two says about the other is decided where batches are made. */
function batchOf(count: Place, size: Place): Readonly<Record<string, unknown>> | null {
  if (count.value === undefined && size.value === undefined) return null
  comesFrom(count, 'batch')
  comesFrom(size, 'batch', 'preferredSize')
  const maxEvents = count.value === undefined ? undefined : readNumber(count.value, reportAt(count), 1, 5_000)
  const kilobytes = size.value === undefined ? undefined : readNumber(size.value, reportAt(size), 1, 1_024)
  return {
    ...(maxEvents === undefined ? {} : { maxEvents }),
    ...(kilobytes === undefined ? {} : { preferredSize: `${kilobytes}KB` }),
  }
}

/** Ignored, they would leave the receiver with requests that it refuses. */
function checkAuthorization(
  fields: Readonly<Record<'azureActiveDirectoryTenantId' | 'azureActiveDirectoryApplicationIdOrUri', Place>>,
  own: Readonly<Record<string, unknown>>,
): void {
  const ownHeaders = isMapping(own['headers']) ? Object.keys(own['headers']) : []
  const isAuthorized = ownHeaders.some((name) => name.toLowerCase() === 'authorization')
  for (const place of [fields.azureActiveDirectoryTenantId, fields.azureActiveDirectoryApplicationIdOrUri]) {
    if (place.value === undefined) continue
    if (isAuthorized) warnAt(place, 'is ignored; `headers.Authorization`, beside `properties`, is sent instead')
    else {
      const mend = 'take it out, and write `headers: { Authorization: { secret: NAME } }` beside `properties`'
      reportAt(place)(`tokens of Microsoft Entra ID are not fetched here; ${mend}`)
    }
  }
}

function checkTls(place: Place): void {
  const version = wordAt(place, ['1.0', '1.1', '1.2'])
  if (version === '1.0' || version === '1.1') warnAt(place, `${version} is not spoken here; TLS 1.2 is the lowest`)
}
