/** The tables of docs/event-grid.md that say what the code says too: rows A4, A19, A21. */
import { formatDuration, outcomeOfStatus, retryPolicyOf, verdictAfterAttempt } from '@barnabas/core'
import { createMetrics } from '@barnabas/runtime'
import { expect, test } from 'vitest'
import { codeSpans, page, tableOf } from './markdown.ts'

const eventGrid = page('docs/event-grid.md')

test.each(['webhook', 'azure'] as const)('what follows each status of %s', (endpoint) => {
  const table = tableOf(eventGrid, 'Outcomes')
  const policy = retryPolicyOf({ schedule: 'event-grid', notation: 'event-grid', endpoint }, 1)
  const handling = { faultTolerance: 'allowed', order: 'none', deadLettering: true } as const
  for (let status = 205; status <= 599; status += 1) {
    const result = {
      outcome: outcomeOfStatus(status),
      status,
      error: null,
      responseBody: null,
      startedAt: 0,
      endedAt: 0,
    }
    const verdict = verdictAfterAttempt(result, 1, policy, handling, 0)
    const said = 'dueAt' in verdict ? `at least ${formatDuration(verdict.dueAt)}` : 'never retried'
    expect((table.get(String(status)) ?? table.get('any other'))?.[endpoint], String(status)).toBe(said)
  }
})

test('every metric that stands for one of Event Grid’s exists', async () => {
  const text = await createMetrics().text()
  const own = new Set([...text.matchAll(/^# TYPE (barnabas_\w+) /gm)].map(([, name = '']) => name))
  const rows = [...tableOf(eventGrid, 'Monitoring').values()]
  expect(rows).toHaveLength(7)
  for (const row of rows) {
    const [name = ''] = codeSpans(row['here'] ?? '')
    expect(own.has(name), name).toBe(true)
  }
})
