/** The tables of docs/event-grid.md that say what the code says too: rows A4, A19. */
import { formatDuration, outcomeOfStatus, retryPolicyOf, verdictAfterAttempt } from '@barnabas/core'
import { expect, test } from 'vitest'
import { page, tableOf } from './markdown.ts'

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
