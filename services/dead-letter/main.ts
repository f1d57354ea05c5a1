import { runHosted } from '@barnabas/host'
import { openDeadLetter } from './open.ts'

await runHosted('dead-letter', (host) =>
  openDeadLetter(host, (subscription, reason) => host.metrics.deadLettered(subscription, reason)),
)
