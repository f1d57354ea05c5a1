import type { Message } from 'kafkajs'

/** Kafka's headers; kafkajs's own type knows no null value, though the protocol and its codec do. */
export type EventHeaders = Record<string, string | Buffer | null | readonly (string | Buffer | null)[] | undefined>

export interface EventParts {
  readonly type?: string
  readonly source?: string
  readonly data?: string | Buffer | null
  readonly key?: string | Buffer | null
  /** Headers beside the attributes, or instead of them. */
  readonly headers?: EventHeaders
  readonly partition?: number
}

/** A CloudEvent in the Kafka binding's binary mode. */
export function binaryEvent(id: string, parts: EventParts = {}): Message {
  const { type = 'test.made', source = '/tests', data = '{"number":1}', key = null, headers = {}, partition } = parts
  return {
    key,
    value: data,
    headers: {
      ce_specversion: '1.0',
      ce_id: id,
      ce_source: source,
      ce_type: type,
      'content-type': 'application/json',
      ...headers,
    },
    ...(partition === undefined ? {} : { partition }),
  }
}

/** A CloudEvent in structured mode: the JSON as it is given. */
export function structuredEvent(json: string, headers: EventHeaders = {}): Message {
  return { key: null, value: json, headers: { 'content-type': 'application/cloudevents+json', ...headers } }
}
