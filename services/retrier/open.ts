import type { Host } from '@barnabas/host'
import type { ServiceProcess } from '@barnabas/runtime'
import { createRetrier } from './service.ts'

/** Opens the retrier in this process: it shares the tiers with the other retriers and reads its part of them. */
export async function openRetrier(host: Host, service: ServiceProcess): Promise<void> {
  const { kafka, names, registry, statuses, config, logger } = host
  const retrier = createRetrier({
    kafka,
    names,
    deliverer: host.deliverer(),
    timeScale: config.timeScale,
    subscriptions: registry,
    statuses,
    onFailed(failure) {
      logger.fatal({ code: failure.code }, `the retrier cannot go on: ${failure.message}`)
      service.stop('the retrier has failed', 1)
    },
    drainTimeoutMs: config.drainTimeoutMs,
    now: Date.now,
    logger,
  })
  service.closers.add('retrier', () => retrier.close(), { limitMs: config.drainTimeoutMs + 2_000 })
  await retrier.start()
}
