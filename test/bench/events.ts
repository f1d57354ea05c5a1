/**
 * The event of the bench: 1 KiB of JSON text in binary mode, with the attributes that real events have. Half of the
 * sources begin with `/bench/even`, and there are a hundred of them, one event in a hundred each.
 */
export function benchHeaders(index: number): Record<string, string> {
  return {
    'content-type': 'application/json',
    ce_specversion: '1.0',
    ce_id: `event-${index}`,
    ce_source: benchSource(index),
    ce_type: benchType,
    ce_time: '2026-01-01T00:00:00.000Z',
  }
}

export const benchType = 'com.example.order.created'
export const benchSources = 100

export function benchSource(index: number): string {
  return `/bench/${index % 2 === 0 ? 'even' : 'odd'}/${index % benchSources}`
}

/** A record of a backlog. */
export interface BenchRecord {
  readonly value: Buffer
  readonly headers: Record<string, string>
}

export const benchRecord = (index: number): BenchRecord => ({ value: benchValue(index), headers: benchHeaders(index) })

/** The same event in Event Grid's schema: its kilobyte of data in an envelope. */
export function eventGridRecord(index: number): BenchRecord {
  const envelope = JSON.stringify({
    id: `event-${index}`,
    topic: benchSource(index),
    subject: `orders/${index}`,
    eventType: benchType,
    eventTime: '2026-01-01T00:00:00.000Z',
    dataVersion: '1.0',
    metadataVersion: '1',
  })
  return { value: Buffer.from(`${envelope.slice(0, -1)},"data":${benchValue(index).toString()}}`), headers: {} }
}

const valueBytes = 1_024

export function benchValue(index: number): Buffer {
  const start = `{"order":${index},"text":"`
  return Buffer.from(`${start.padEnd(valueBytes - 2, 'x')}"}`)
}
