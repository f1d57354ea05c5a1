import type { Host, HostedService } from '@barnabas/host'
import { createRetrier } from './service.ts'

/** Opens the retrier in this process: it shares the tiers with the other retriers and reads its part of them. */
export async function openRetrier(host: Host): Promise<HostedService> {
  const { kafka, names, registry, statuses, config, logger, metrics } = host
  await host.followProgress()
  const probations = await host.probations()
  const retrier = createRetrier({
    kafka,
    names,
    deliverer: host.deliverer(),
    timeScale: config.timeScale,
    probations,
    mayHold: (id) => host.mayHold(id),
    rates: host.rates,
    subscriptions: registry,
    statuses,
    isBlocked: (subscription) => host.isBlocked(subscription),
    onFailed: (failure) => host.fail(`the retrier cannot go on: ${failure.message}`),
    // What was parked before this process began is known by the heads of the tiers.
    onWaiting: ({ subscriptionId, publishTime }, dueAt) => metrics.parked(subscriptionId, publishTime, dueAt),
    drainTimeoutMs: config.drainTimeoutMs,
    sessionTimeoutMs: config.sessionTimeoutMs,
    now: Date.now,
    logger,
  })
  host.onChange((id) => retrier.changed(id))
  await retrier.start()
  return retrier
}
