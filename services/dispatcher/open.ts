import type { Host, HostedService } from '@barnabas/host'
import { createDispatcher } from './service.ts'

/** Opens the dispatcher in this process: it takes up every subscription and follows their changes. */
export async function openDispatcher(host: Host): Promise<HostedService> {
  const { kafka, names, registry, statuses, config, logger, metrics } = host
  await host.followProgress()
  const dispatcher = createDispatcher({
    kafka,
    names,
    deliverer: host.deliverer(),
    subscriptions: registry,
    statuses,
    problemOf: (subscription) => host.problemOfSecrets(subscription),
    onFiltered: () => metrics.filtered(),
    onSkipped: (id, offsets) => metrics.skipped(id, offsets),
    drainTimeoutMs: config.drainTimeoutMs,
    sessionTimeoutMs: config.sessionTimeoutMs,
    timeScale: config.timeScale,
    now: Date.now,
    logger,
  })
  host.onChange((id) => dispatcher.changed(id))
  await dispatcher.start()
  return dispatcher
}
