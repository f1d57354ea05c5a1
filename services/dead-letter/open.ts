import type { Host, HostedService } from '@barnabas/host'
import { createDeadLetterService } from './service.ts'

/** Opens the dead-letter service in this process. `onDeadLetter` counts; in a process that also delivers they are counted there. */
export async function openDeadLetter(
  host: Host,
  onDeadLetter: (subscriptionId: string, reason: string) => void,
): Promise<HostedService> {
  const { kafka, names, registry, logger } = host
  const deadLetter = createDeadLetterService({
    kafka,
    names,
    topics() {
      const own = registry
        .all()
        .flatMap((entry) => (entry.kind === 'valid' ? (entry.subscription.deadLetter?.topic ?? []) : []))
      return [names.deadLetter, ...own]
    },
    onDeadLetter,
    sessionTimeoutMs: host.config.sessionTimeoutMs,
    isToldElsewhere: (id) => host.toldElsewhere.has(id),
    logger,
  })
  host.onChange(() => deadLetter.changed())
  await deadLetter.start()
  return deadLetter
}
