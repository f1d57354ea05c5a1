/** The event of the bench: 1 KiB of JSON text in binary mode, with the attributes that real events have. */
export function benchHeaders(index: number): Record<string, string> {
  return {
    'content-type': 'application/json',
    ce_specversion: '1.0',
    ce_id: `event-${index}`,
    ce_source: '/bench/orders',
    ce_type: 'com.example.order.created',
    ce_time: '2026-01-01T00:00:00.000Z',
  }
}

const valueBytes = 1_024

export function benchValue(index: number): Buffer {
  const start = `{"order":${index},"text":"`
  return Buffer.from(`${start.padEnd(valueBytes - 2, 'x')}"}`)
}
