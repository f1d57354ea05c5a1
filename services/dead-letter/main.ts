import { runHosted } from '@barnabas/host'
import { openDeadLetter } from './open.ts'

await runHosted('dead-letter', (host, service) =>
  openDeadLetter(host, service, (subscription, reason) => host.metrics.deadLettered(subscription, reason)),
)
