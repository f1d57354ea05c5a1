import { createLogger, readEnvironment, runService, StartupError, usableConfig } from '@barnabas/runtime'
import { openHost } from './host.ts'
import type { Host, HostedService } from './host.ts'

/** Runs one service as a process of its own: environment → host → the service, until a signal ends it. */
export function runHosted(name: string, open: (host: Host) => Promise<HostedService>): Promise<never> {
  return runService(name, async (service) => {
    const { config, warnings } = usableConfig(readEnvironment(process.env, { kind: 'service' }))
    const logger = createLogger({ service: name, level: config.logLevel })
    service.logTo(logger)
    for (const warning of warnings) logger.warn(warning)
    const { brokers } = config.kafka
    if (brokers === null) {
      throw new StartupError(
        `no broker: set KAFKA_BROKERS=host:port for the ${name}, or run \`pnpm start\`, which brings its own`,
      )
    }
    const host = await openHost(service, { config, logger, brokers, allowedNetworks: config.allowedNetworks })
    host.hold([await host.opened(open(host))])
    host.health.set('start', { ready: true, live: true, detail: 'started' })
    logger.info(`${name} is ready`)
  })
}
