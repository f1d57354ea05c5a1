import type { Host } from '@barnabas/host'
import type { ServiceProcess } from '@barnabas/runtime'
import { createDeadLetterService } from './service.ts'

/** Opens the dead-letter service in this process. `onDeadLetter` counts; in a process that also delivers they are counted there. */
export async function openDeadLetter(
  host: Host,
  service: ServiceProcess,
  onDeadLetter: (subscriptionId: string, reason: string) => void,
): Promise<void> {
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
    isToldElsewhere: (id) => host.toldElsewhere.has(id),
    logger,
  })
  service.closers.add('dead-letter', () => deadLetter.close())
  host.onChange(() => deadLetter.changed())
  await deadLetter.start()
}
