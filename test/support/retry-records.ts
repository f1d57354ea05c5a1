import type { IHeaders, Message } from 'kafkajs'
import { binaryEvent } from './events.ts'

/** A retry record as the reference describes it, due long ago; undefined leaves a header out. */
export function retryRecord(
  id: string,
  of: { readonly subscription: string; readonly generation: string; readonly topic: string; readonly offset?: number },
  changes: Record<string, IHeaders[string]> = {},
): Message {
  const own: Record<string, IHeaders[string]> = {
    subscription: of.subscription,
    'subscription-generation': of.generation,
    attempts: '3',
    'publish-time': '2026-01-01T00:00:00.000Z',
    'due-time': '2026-01-01T00:00:01.000Z',
    hops: '4',
    'source-topic': of.topic,
    'source-partition': '0',
    'source-offset': String(of.offset ?? 1234),
    'last-outcome': 'Busy',
    'last-status': '503',
    ...changes,
  }
  const headers = Object.entries(own).flatMap(([name, value]) =>
    value === undefined ? [] : [[`barnabas-${name}`, value] as const],
  )
  return binaryEvent(id, { key: 'the key', headers: { 'x-own': 'kept', ...Object.fromEntries(headers) } })
}
