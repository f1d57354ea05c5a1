import type { HandshakeAsked } from './handshake-answer.ts'
import type { Subscription } from './subscription.ts'

/** One HTTP request as a handshake, or the word that a subscription is gone, needs it. */
export interface PlainRequest {
  readonly method: 'POST' | 'OPTIONS'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface HandshakeToMake extends HandshakeAsked {
  /** What somebody may call instead of the receiver; null without one. */
  readonly url: string | null
  /** Of Event Grid's validation event. */
  readonly eventId: string
  /** ms since the epoch. */
  readonly now: number
}

type Asking = Pick<Subscription, 'id' | 'topics'>

export function handshakeRequest(subscription: Asking, handshake: HandshakeToMake): PlainRequest {
  return handshake.form === 'event-grid'
    ? validationRequest(subscription, handshake)
    : consentRequest(subscription, handshake)
}

/** Event Grid's `SubscriptionValidationEvent` (spec event-grid.md 2.2.1): an array of exactly one. */
function validationRequest(subscription: Asking, { code, url, eventId, now }: HandshakeToMake): PlainRequest {
  const data = { validationCode: code, ...(url === null ? {} : { validationUrl: url }) }
  return eventGridRequest(subscription, {
    aegEventType: 'SubscriptionValidation',
    eventType: 'Microsoft.EventGrid.SubscriptionValidationEvent',
    data,
    eventId,
    now,
  })
}

/** CloudEvents, HTTP 1.1 Web Hooks 1.0.2, 4.1. */
function consentRequest({ id }: Asking, { origin, rate, url }: HandshakeToMake): PlainRequest {
  return {
    method: 'OPTIONS',
    headers: {
      ...ownHeaders(id),
      'webhook-request-origin': origin,
      ...(url === null ? {} : { 'webhook-request-callback': url }),
      ...(rate === null ? {} : { 'webhook-request-rate': String(rate) }),
    },
    body: null,
  }
}

/** Event Grid's `SubscriptionDeletedEvent` (spec event-grid.md 2.1). The full id of a subscription is its id here. */
export function deletionRequest(
  subscription: Asking,
  { eventId, now }: Pick<HandshakeToMake, 'eventId' | 'now'>,
): PlainRequest {
  return eventGridRequest(subscription, {
    aegEventType: 'SubscriptionDeletion',
    eventType: 'Microsoft.EventGrid.SubscriptionDeletedEvent',
    data: { eventSubscriptionId: subscription.id },
    eventId,
    now,
  })
}

interface OwnEventGridEvent {
  readonly aegEventType: 'SubscriptionValidation' | 'SubscriptionDeletion'
  readonly eventType: string
  readonly data: Readonly<Record<string, unknown>>
  readonly eventId: string
  readonly now: number
}

/** An event of our own in Event Grid's schema, with its headers (spec event-grid.md 2.1). */
function eventGridRequest(
  { id, topics }: Asking,
  { aegEventType, eventType, data, eventId, now }: OwnEventGridEvent,
): PlainRequest {
  const event = {
    id: eventId,
    topic: topics[0] ?? '',
    subject: '',
    data,
    eventType,
    eventTime: new Date(now).toISOString(),
    metadataVersion: '1',
    dataVersion: '1',
  }
  return {
    method: 'POST',
    headers: {
      ...ownHeaders(id),
      'content-type': 'application/json; charset=utf-8',
      'aeg-event-type': aegEventType,
      'aeg-subscription-name': id.toUpperCase(),
      'aeg-delivery-count': '0',
      'aeg-data-version': '1',
      'aeg-metadata-version': '1',
    },
    body: JSON.stringify([event]),
  }
}

function ownHeaders(id: string): Readonly<Record<string, string>> {
  return { 'user-agent': 'barnabas', 'barnabas-subscription': id }
}
