import { createHmac } from 'node:crypto'
import { withMembers } from '@barnabas/core'
import type { JsonText } from '@barnabas/core'
import type { AlibabaCredentials } from '@barnabas/host'

/** Limits of `PutEvents` (spec page §1.8). */
export const busLimits = { eventBytesMax: 262_144, eventsMax: 16, bytesMax: 1_048_576 } as const

/** The event for this bus: an attribute says which one is meant, whatever it said before. */
export function busEvent(event: JsonText, bus: string): JsonText {
  return withMembers(event, [['aliyuneventbusname', Buffer.from(JSON.stringify(bus))]])
}

/** The events in their order, in as few calls as the limits of a call allow; none is larger than that of an event. */
export function busCalls(events: readonly JsonText[]): readonly (readonly JsonText[])[] {
  const calls: JsonText[][] = []
  let bytes: number = busLimits.bytesMax
  for (const event of events) {
    const last = calls.at(-1)
    // With its comma or bracket, and the closing one.
    const size = event.length + 1
    if (last !== undefined && last.length < busLimits.eventsMax && bytes + size <= busLimits.bytesMax) {
      last.push(event)
      bytes += size
    } else {
      calls.push([event])
      bytes = size + 1
    }
  }
  return calls
}

export interface BusRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/**
 * `PutEvents` of EventBridge as its SDK `@alicloud/eventbridge` sends it (spec page §4.4): the events as a JSON array,
 * signed with HMAC-SHA1 over method, type, date, the `x-acs-` headers and the path; the body is not part of it.
 */
export function busRequest(
  events: readonly JsonText[],
  at: { readonly credentials: AlibabaCredentials; readonly now: number; readonly nonce: string },
): BusRequest {
  const { accessKeyId, accessKeySecret, securityToken } = at.credentials
  const path = '/openapi/putEvents'
  const type = 'application/cloudevents-batch+json; charset=utf-8'
  const date = new Date(at.now).toUTCString()
  // In the order of their names, as they are signed.
  const signedHeaders = {
    ...(securityToken === null ? {} : { 'x-acs-accesskey-id': accessKeyId, 'x-acs-security-token': securityToken }),
    'x-acs-signature-method': 'HMAC-SHA1',
    'x-acs-signature-nonce': at.nonce,
    'x-acs-signature-version': '1.0',
  }
  const lines = Object.entries(signedHeaders).map(([name, value]) => `${name}:${value}\n`)
  const signed = `POST\n\n${type}\n${date}\n${lines.join('')}${path}`
  const signature = createHmac('sha1', accessKeySecret).update(signed).digest('base64')
  const parts = events.flatMap((event, index) => [Buffer.from(index === 0 ? '[' : ','), event])
  return {
    path,
    headers: {
      date,
      accept: 'application/json',
      ...signedHeaders,
      'x-eventbridge-version': '2015-06-06',
      'content-type': type,
      authorization: `acs:${accessKeyId}:${signature}`,
    },
    body: Buffer.concat([...parts, Buffer.from(']')]),
  }
}
