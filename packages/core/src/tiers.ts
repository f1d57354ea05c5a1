/**
 * The retry topics: each holds records that all wait the same time, so that nothing waits behind something that
 * waits longer. In order of their delays. They cover every delay of the published schedules (rows A6, B2, C3) with
 * one or two waits; all are made at the first start, for a running consumer cannot add a topic.
 */
export const tiers = [
  { name: 'now', delayMs: 0 },
  { name: '1s', delayMs: 1_000 },
  { name: '2s', delayMs: 2_000 },
  { name: '4s', delayMs: 4_000 },
  { name: '8s', delayMs: 8_000 },
  { name: '10s', delayMs: 10_000 },
  { name: '16s', delayMs: 16_000 },
  { name: '30s', delayMs: 30_000 },
  { name: '32s', delayMs: 32_000 },
  { name: '1m', delayMs: 60_000 },
  { name: '64s', delayMs: 64_000 },
  { name: '128s', delayMs: 128_000 },
  { name: '256s', delayMs: 256_000 },
  { name: '5m', delayMs: 300_000 },
  { name: '512s', delayMs: 512_000 },
  { name: '10m', delayMs: 600_000 },
  { name: '30m', delayMs: 1_800_000 },
  { name: '1h', delayMs: 3_600_000 },
  { name: '3h', delayMs: 10_800_000 },
  { name: '6h', delayMs: 21_600_000 },
  { name: '12h', delayMs: 43_200_000 },
] as const

export type TierName = (typeof tiers)[number]['name']
