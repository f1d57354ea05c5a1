import { expect, test } from 'vitest'
import { createMetrics, type Metrics } from './metrics.ts'

/** The lines of our own metrics without comments; ages in whole seconds, for they grow while the test goes on. */
async function series(metrics: Metrics): Promise<string[]> {
  const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('barnabas_'))
  return lines.map((line) => (line.includes('_age_seconds') ? line.replace(/\.\d+$/, '') : line))
}

function tellEverything(metrics: Metrics, subscription: string): void {
  metrics.attemptInFlight(subscription, 1)
  metrics.attemptInFlight(subscription, 1)
  metrics.attemptInFlight(subscription, -1)
  metrics.attempt({ subscription, outcome: 'Delivered', durationMs: 20 })
  metrics.attempt({ subscription, outcome: 'Busy', durationMs: 2_000 })
  metrics.verdict(subscription, 'done')
  metrics.verdict(subscription, 'retry')
  metrics.deadLettered(subscription, 'TimeToLiveExceeded')
  metrics.blobWritten(subscription, 12)
  metrics.blobGivenUp(subscription, 'Unavailable', 3)
  metrics.dropped(subscription, 'TimeToLiveExceeded')
  metrics.matched(subscription)
  metrics.batchSplit(subscription)
  metrics.withdrawn(subscription)
  metrics.parked(subscription, Date.now() - 60_000, Date.now() + 60_000)
  metrics.skipped(subscription, 12)
}

test('what happened stands in the series', async () => {
  const metrics = createMetrics()
  tellEverything(metrics, 'orders')
  metrics.filtered()
  metrics.late(-5)
  metrics.late(300)
  expect(await series(metrics)).toEqual(
    expect.arrayContaining([
      'barnabas_attempts_total{subscription="orders",outcome="Delivered"} 1',
      'barnabas_attempts_total{subscription="orders",outcome="Busy"} 1',
      'barnabas_events_matched_total{subscription="orders"} 1',
      'barnabas_events_delivered_total{subscription="orders"} 1',
      'barnabas_batches_split_total{subscription="orders"} 1',
      'barnabas_retries_withdrawn_total{subscription="orders"} 1',
      'barnabas_verdicts_total{subscription="orders",verdict="done"} 1',
      'barnabas_verdicts_total{subscription="orders",verdict="retry"} 1',
      'barnabas_dead_letters_total{subscription="orders",reason="TimeToLiveExceeded"} 1',
      'barnabas_dropped_total{subscription="orders",reason="TimeToLiveExceeded"} 1',
      'barnabas_dead_letter_blobs_total{subscription="orders"} 1',
      'barnabas_dead_letter_blob_events_total{subscription="orders"} 12',
      'barnabas_dead_letter_blob_given_up_total{subscription="orders",reason="Unavailable"} 3',
      'barnabas_events_filtered_total 1',
      'barnabas_skipped_offsets_total{subscription="orders"} 12',
      'barnabas_attempts_in_flight{subscription="orders"} 1',
      'barnabas_oldest_parked_event_age_seconds{subscription="orders"} 60',
      'barnabas_attempt_duration_seconds_bucket{le="0.025",subscription="orders"} 1',
      'barnabas_attempt_duration_seconds_sum{subscription="orders"} 2.02',
      'barnabas_attempt_duration_seconds_count{subscription="orders"} 2',
      'barnabas_lateness_seconds_sum 0.3',
      'barnabas_lateness_seconds_count 2',
    ]),
  )
})

test('the text has the process metrics too, and a help line for each of ours', async () => {
  const text = await createMetrics().text()
  expect(text).toContain('process_resident_memory_bytes ')
  const typed = [...text.matchAll(/^# TYPE (barnabas_\w+) /gm)].map((match) => match[1])
  expect(typed).toEqual([
    'barnabas_events_matched_total',
    'barnabas_attempts_total',
    'barnabas_verdicts_total',
    'barnabas_events_delivered_total',
    'barnabas_batches_split_total',
    'barnabas_retries_withdrawn_total',
    'barnabas_dead_letters_total',
    'barnabas_dropped_total',
    'barnabas_dead_letter_blobs_total',
    'barnabas_dead_letter_blob_events_total',
    'barnabas_dead_letter_blob_given_up_total',
    'barnabas_dead_letters_carried_total',
    'barnabas_dead_letters_refused_total',
    'barnabas_dead_letter_target_lag',
    'barnabas_events_filtered_total',
    'barnabas_skipped_offsets_total',
    'barnabas_attempt_duration_seconds',
    'barnabas_attempts_in_flight',
    'barnabas_oldest_parked_event_age_seconds',
    'barnabas_lateness_seconds',
    'barnabas_probation_active',
    'barnabas_parked_events',
  ])
})

test('two processes in one do not share a registry', async () => {
  const one = createMetrics()
  const other = createMetrics()
  one.filtered()
  expect(await series(other)).toContain('barnabas_events_filtered_total 0')
})

test('a forgotten subscription leaves no series, the others stay', async () => {
  const metrics = createMetrics()
  tellEverything(metrics, 'keep')
  const before = await series(metrics)
  tellEverything(metrics, 'gone')
  await metrics.forgetSubscription('gone')
  expect(await series(metrics)).toEqual(before)

  metrics.attemptInFlight('gone', -1)
  expect(await series(metrics)).toEqual(before)
})

test('the number of subscriptions is bounded, what is beyond is counted together', async () => {
  const metrics = createMetrics()
  for (let index = 0; index < 10_000; index++) metrics.dropped(`id-${index}`, 'TimeToLiveExceeded')
  for (const id of ['beyond', 'far-beyond']) {
    metrics.dropped(id, 'TimeToLiveExceeded')
    metrics.attemptInFlight(id, 1)
  }
  metrics.attemptInFlight('beyond', -1)
  const lines = await series(metrics)
  expect(lines).toContain('barnabas_dropped_total{subscription="(others)",reason="TimeToLiveExceeded"} 2')
  expect(lines).toContain('barnabas_attempts_in_flight{subscription="(others)"} 1')
  expect(lines.filter((line) => line.includes('beyond'))).toEqual([])
})

test('a label with quotes and line breaks cannot forge a series', async () => {
  const metrics = createMetrics()
  metrics.dropped('a"} 1\nforged 1', 'TimeToLiveExceeded')
  expect((await metrics.text()).split('\n')).toContain(
    'barnabas_dropped_total{subscription="a\\"} 1\\nforged 1",reason="TimeToLiveExceeded"} 1',
  )
})

test('A21: who is on probation, and what is parked, as it is when somebody asks', async () => {
  const metrics = createMetrics()
  let standings = [
    { subscription: 'orders', isOnProbation: true, parked: 12 },
    { subscription: 'bills', isOnProbation: false, parked: 0 },
  ]
  metrics.follow(() => standings)
  const waiting = async () => (await series(metrics)).filter((line) => /probation|parked_events/.test(line))
  expect(await waiting()).toEqual([
    'barnabas_probation_active{subscription="orders"} 1',
    'barnabas_probation_active{subscription="bills"} 0',
    'barnabas_parked_events{subscription="orders"} 12',
    'barnabas_parked_events{subscription="bills"} 0',
  ])
  standings = [{ subscription: 'orders', isOnProbation: false, parked: 3 }]
  await metrics.forgetSubscription('bills')
  expect(await waiting()).toEqual([
    'barnabas_probation_active{subscription="orders"} 0',
    'barnabas_parked_events{subscription="orders"} 3',
  ])
})

test('A21: beyond the bound they are added up', async () => {
  const metrics = createMetrics()
  metrics.follow(() =>
    Array.from({ length: 10_003 }, (_, index) => ({ subscription: `id-${index}`, isOnProbation: true, parked: 2 })),
  )
  const lines = await series(metrics)
  expect(lines).toContain('barnabas_probation_active{subscription="(others)"} 3')
  expect(lines).toContain('barnabas_parked_events{subscription="(others)"} 6')
})
