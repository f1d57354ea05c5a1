import type { Host, HostedService } from '@barnabas/host'
import { createDeletions } from './deletions.ts'
import { createHandshakes } from './handshakes.ts'
import { createDispatcher } from './service.ts'

/** Opens the dispatcher in this process: it takes up every subscription and follows their changes. */
export async function openDispatcher(host: Host): Promise<HostedService> {
  const { kafka, names, registry, statuses, config, logger, metrics } = host
  await host.followProgress()
  const handshakes = createHandshakes({
    asker: host.asker,
    statuses,
    publicUrl: config.publicUrl,
    origin: config.origin,
    timeScale: config.timeScale,
    now: Date.now,
    logger,
  })
  const deletions = createDeletions({ asker: host.asker, timeScale: config.timeScale, now: Date.now, logger })
  const probations = await host.probations()
  const dispatcher = createDispatcher({
    kafka,
    names,
    deliverer: host.deliverer(),
    probations,
    rates: host.rates,
    subscriptions: registry,
    statuses,
    problemOf: (subscription) => host.problemOf(subscription),
    lookAtSink: (sink) => host.lookAtSink(sink),
    handshakes,
    deletions,
    inPlaceEvents: host.inPlace,
    isBlocked: (subscription) => host.isBlocked(subscription),
    onFiltered: () => metrics.filtered(),
    onSkipped: (id, offsets) => metrics.skipped(id, offsets),
    drainTimeoutMs: config.drainTimeoutMs,
    sessionTimeoutMs: config.sessionTimeoutMs,
    timeScale: config.timeScale,
    now: Date.now,
    logger,
  })
  host.onChange((id) => dispatcher.changed(id))
  host.onStatus((id) => dispatcher.statusChanged(id))
  host.inPlace.onInPlace((id) => dispatcher.inPlaceChanged(id))
  host.commands.onCommand((command) => {
    if (command.command === 'skip' || command.command === 'start') dispatcher.resolve(command)
    if (command.command === 'callback') handshakes.called(command)
    else if (command.command === 'start') dispatcher.startAgain(command)
    else if (command.command === 'pause') dispatcher.pause(command)
    else if (command.command === 'fail') dispatcher.fail(command)
  })
  await host.commands.start()
  await dispatcher.start()
  return {
    async close() {
      await deletions.close()
      await dispatcher.close()
    },
    get lastHeartbeatAt() {
      return dispatcher.lastHeartbeatAt
    },
  }
}
