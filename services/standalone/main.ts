import { openDeadLetter } from '@barnabas/dead-letter'
import { openDispatcher } from '@barnabas/dispatcher'
import { openHost } from '@barnabas/host'
import { openRetrier } from '@barnabas/retrier'
import { createLogger, readEnvironment, runService, usableConfig } from '@barnabas/runtime'
import { openBroker } from './broker.ts'
import { playDemo } from './demo.ts'
import { firstSteps, settingsToRepeat } from './first-steps.ts'

/** Everything in one process, on a Kafka of its own unless `KAFKA_BROKERS` names one: what `pnpm start` runs. */
await runService('start', async (service) => {
  const { config, warnings } = usableConfig(readEnvironment(process.env, { kind: 'start' }))
  const logger = createLogger({ service: 'start', level: config.logLevel })
  service.logTo(logger)
  for (const warning of warnings) logger.warn(warning)

  const allowedNetworks = config.allowedNetworks.length > 0 ? config.allowedNetworks : ['127.0.0.0/8', '::1/128']
  const broker = await openBroker(service, config, allowedNetworks, logger)
  const host = await openHost(service, {
    config,
    logger,
    brokers: broker.brokers,
    allowedNetworks,
    clientId: broker.clientId,
    isOwnBroker: broker.isOwn,
  })
  if (broker.formerClientId !== null) {
    const members = await host.kafka.admin.removeMembers(broker.formerClientId, `${config.prefix}.`)
    if (members > 0) logger.info({ members }, 'took over from a former run that was killed')
  }
  const services = [
    await openDeadLetter(host, () => {}),
    await host.opened(openRetrier(host)),
    await openDispatcher(host),
  ]
  host.hold(services)
  host.health.set('start', { ready: true, live: true, detail: 'started' })
  logger.info(`Barnabas is ready on ${broker.brokers.join(', ')}`)
  if (config.demo) await playDemo(host, service)
  for (const line of firstSteps(settingsToRepeat(config, broker.isOwn))) logger.info(line)
})
