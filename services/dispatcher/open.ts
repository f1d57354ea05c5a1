import type { Host } from '@barnabas/host'
import type { ServiceProcess } from '@barnabas/runtime'
import { createDispatcher } from './service.ts'

/** Opens the dispatcher in this process: it takes up every subscription and follows their changes. */
export async function openDispatcher(host: Host, service: ServiceProcess): Promise<void> {
  const { kafka, names, registry, statuses, config, logger, metrics } = host
  const dispatcher = createDispatcher({
    kafka,
    names,
    deliverer: host.deliverer(),
    subscriptions: registry,
    statuses,
    onFiltered: () => metrics.filtered(),
    drainTimeoutMs: config.drainTimeoutMs,
    logger,
  })
  service.closers.add('dispatcher', () => dispatcher.close(), { limitMs: config.drainTimeoutMs + 2_000 })
  host.onChange((id) => dispatcher.changed(id))
  await dispatcher.start()
}
