import { binaryData, structuredJson, type CloudEvent } from '@barnabas/core'

export interface WebhookRequestOptions {
  readonly mode: 'binary' | 'structured'
  readonly subscriptionId: string
  /** 1 on the first attempt. */
  readonly attemptNumber: number
}

export interface WebhookRequest {
  /** No value here is one that an HTTP client would refuse, provided that `decodeEvent` made the event. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | null
}

/**
 * What a webhook receives (interface, "What a webhook receives"; CloudEvents HTTP binding 1.0, sections 3.1 and 3.2).
 * One event per request (row A2). Throws for more than one: whoever makes batches asks for what is not there yet.
 */
export function webhookRequest(
  events: readonly [CloudEvent, ...CloudEvent[]],
  options: WebhookRequestOptions,
): WebhookRequest {
  const [event, ...others] = events
  if (others.length > 0) throw new Error(`a request carries one event in this version, not ${events.length}`)
  const headers: Record<string, string> = {
    'user-agent': 'barnabas',
    'barnabas-subscription': options.subscriptionId,
    'barnabas-attempt': String(options.attemptNumber),
  }
  if (options.mode === 'structured') {
    headers['content-type'] = 'application/cloudevents+json; charset=utf-8'
    return { headers, body: structuredJson(event) }
  }
  const { contentType, body } = binaryData(event)
  addAttributes(headers, event)
  if (contentType !== undefined) headers['content-type'] = contentType
  return { headers, body }
}

/** `datacontenttype` is the request's Content-Type (HTTP binding 3.1.1), every other attribute a `ce-` header (3.1.3). */
function addAttributes(headers: Record<string, string>, event: CloudEvent): void {
  for (const [name, value] of event.attributes) {
    if (name !== 'datacontenttype') headers[`ce-${name}`] = percentEncoded(value)
  }
}

const toBeEscaped = /["%]|[^\u0021-\u007e]/

/** HTTP binding 3.1.3.2: a space, `"`, `%` and everything outside printable ASCII travel as percent-encoded UTF-8. */
function percentEncoded(value: string): string {
  return toBeEscaped.test(value) ? value.replace(/["%]|[^\u0021-\u007e]+/g, utf8Escapes) : value
}

function utf8Escapes(text: string): string {
  let escapes = ''
  for (const byte of Buffer.from(text, 'utf8')) escapes += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  return escapes
}
