import { isUtf8 } from 'node:buffer'
import { rfc3339 } from '@barnabas/core'
import type { HeaderValue, KafkaRecord, RecordHeaders } from '@barnabas/core'
import type { DeadLetterRecord } from '../dead-letter-record.ts'
import { dataOf, positionText } from '../dead-letter-record.ts'
import { fields } from './fields.ts'
import { table } from './table.ts'

export function deadLetterTable(letters: readonly DeadLetterRecord[]): string {
  return table(
    ['TIME', 'SUBSCRIPTION', 'REASON', 'ATTEMPTS', 'EVENT TYPE', 'EVENT ID', 'POSITION'],
    letters.map(({ time, subscription, reason, attempts, event, record }) => [
      time,
      subscription ?? '',
      reason,
      attempts === null ? '' : String(attempts),
      event?.attributes.get('type') ?? '',
      event?.attributes.get('id') ?? '',
      positionText(record),
    ]),
  )
}

/** What the list knows of one dead letter; `position` is what `show` takes. */
export function deadLetterSummaryJson(letter: DeadLetterRecord): Readonly<Record<string, unknown>> {
  const { record, event, malformed, ...known } = letter
  return {
    position: positionText(record),
    ...known,
    event: event === null ? null : Object.fromEntries(event.attributes),
    ...(malformed === null ? {} : { malformed }),
  }
}

/** Everything: bytes that are no UTF-8 stand as `{ base64 }`. */
export function deadLetterJson(letter: DeadLetterRecord): Readonly<Record<string, unknown>> {
  const { key, headers, timestamp } = letter.record
  const data = dataOf(letter)
  return {
    ...deadLetterSummaryJson(letter),
    timestamp: rfc3339(timestamp),
    key: bytesJson(key),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, isList(value) ? value.map(bytesJson) : bytesJson(value)]),
    ),
    ...(data === null || isUtf8(data)
      ? { data: data?.toString('utf8') ?? null }
      : { dataBase64: data.toString('base64') }),
  }
}

export function deadLetterText(letter: DeadLetterRecord): string {
  const { record, event, malformed, source, attempts, lastStatus, generation, redrives } = letter
  const text = (value: string | number | null) => (value === null ? '' : String(value))
  const data = dataOf(letter)
  const parts = [
    fields([
      ['position', positionText(record)],
      ['reason', letter.reason],
      ['time', letter.time],
      ['subscription', text(letter.subscription)],
      ['generation', text(generation)],
      ['source', `${text(source.topic) || '?'}/${text(source.partition) || '?'}/${text(source.offset) || '?'}`],
      ['published', text(letter.publishTime)],
      ['attempts', text(attempts)],
      ['first attempt', text(letter.firstAttemptTime)],
      ['last attempt', text(letter.lastAttemptTime)],
      ['last outcome', [text(letter.lastOutcome), text(lastStatus)].filter((word) => word !== '').join(' ')],
      ['last error', text(letter.lastError)],
      ['destination', text(letter.destination)],
      ...(redrives === null ? [] : [['redrives', String(redrives)] as const]),
    ]),
    section('event', event === null ? block(malformed ?? '') : fields([...event.attributes], '  ')),
    section('record', fields([['key', bytesText(record.key)], ...headerLines(record)], '  ')),
    section(data === null ? 'data' : `data (${data.length} bytes)`, block(bytesText(data))),
  ]
  if (letter.responseBody !== null) parts.push(section('response body', block(letter.responseBody)))
  return parts.join('\n\n')
}

function section(title: string, content: string): string {
  return `${title}\n${content}`
}

function block(text: string): string {
  return fields([['', text]])
}

function headerLines({ headers }: KafkaRecord): (readonly [string, string])[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const values: readonly HeaderValue[] = isList(value) ? value : [value]
    return values.map((each) => [name, bytesText(each)] as const)
  })
}

function bytesText(bytes: HeaderValue): string {
  if (bytes === null) return '(null)'
  if (bytes.length === 0) return '(empty)'
  return isUtf8(bytes) ? bytes.toString('utf8') : `base64: ${bytes.toString('base64')}`
}

function bytesJson(bytes: HeaderValue): string | null | { readonly base64: string } {
  if (bytes === null) return null
  return isUtf8(bytes) ? bytes.toString('utf8') : { base64: bytes.toString('base64') }
}

function isList(value: RecordHeaders[string]): value is readonly HeaderValue[] {
  return Array.isArray(value)
}
