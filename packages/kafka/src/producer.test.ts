import { describe, expect, test } from 'vitest'
import { partitionOf } from './producer.ts'

describe('partitionOf', () => {
  // Java: Utils.toPositive(Utils.murmur2(bytes)) % n; the hashes are those of Kafka's own UtilsTest.testMurmur2.
  test.each([
    { key: '21', hash: -973932308 },
    { key: 'foobar', hash: -790332482 },
    { key: 'a-little-bit-long-string', hash: -985981536 },
    { key: 'a-little-bit-longer-string', hash: -1486304829 },
    { key: 'lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', hash: -58897971 },
    { key: 'abc', hash: 479470107 },
  ])('the key "$key" goes where a Java producer puts it', ({ key, hash }) => {
    const record = { topic: 't', key: Buffer.from(key), value: null, headers: {} }
    for (const count of [1, 3, 8, 50]) expect(partitionOf(record, count)).toBe((hash & 0x7fffffff) % count)
  })

  test('a named partition goes before the key', () => {
    expect(partitionOf({ topic: 't', partition: 5, key: Buffer.from('abc'), value: null, headers: {} }, 8)).toBe(5)
  })

  test('without a key every partition gets its share', () => {
    const record = { topic: 't', key: null, value: null, headers: {} }
    const seen = new Set(Array.from({ length: 1_000 }, () => partitionOf(record, 4)))
    expect(seen).toEqual(new Set([0, 1, 2, 3]))
  })
})
