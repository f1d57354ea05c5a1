import { findKafkaWay, LocalKafkaError, startContainerKafka, startLocalKafka } from '@barnabas/local-kafka'
import { StartupError } from '@barnabas/runtime'
import type { Config, Logger, ServiceProcess } from '@barnabas/runtime'

/** The Kafka that this process runs on. */
export interface Broker {
  readonly brokers: readonly string[]
  /** Ours: it starts and ends with this process. */
  readonly isOwn: boolean
  /** Names this run among the members of consumer groups. */
  readonly clientId: string
  /** The client id of a run that was killed here: its members are dead, though the broker still waits for them. */
  readonly formerClientId: string | null
}

/** The Kafka that `KAFKA_BROKERS` names, else one of our own: from a JDK and Maven, or in a container. */
export async function openBroker(
  service: ServiceProcess,
  config: Config,
  allowedNetworks: readonly string[],
  logger: Logger,
): Promise<Broker> {
  const clientIdOf = (runId: string) => `barnabas-start-${runId}`
  if (config.kafka.brokers !== null) {
    return {
      brokers: config.kafka.brokers,
      isOwn: false,
      clientId: clientIdOf(process.pid.toString()),
      formerClientId: null,
    }
  }
  try {
    const way = await findKafkaWay({ env: process.env })
    const common = {
      dataDir: config.dataDir,
      ...(config.kafkaPort === null ? {} : { port: config.kafkaPort, portIsFixed: true }),
      allowedNetworks,
      onProgress: (message: string) => logger.info(message),
    }
    const local =
      way.kind === 'container'
        ? await startContainerKafka({ ...common, keepData: true })
        : await startLocalKafka({ ...common, signal: service.stopping })
    let isStopping = false
    service.closers.add(
      'broker',
      async () => {
        isStopping = true
        await local.stop()
      },
      { limitMs: 10_000 },
    )
    void local.exited.then(async (exit) => {
      if (isStopping) return
      logger.fatal(await local.describeExit(exit))
      service.stop('the broker has ended', 1)
    })
    return {
      brokers: local.brokers.split(','),
      isOwn: true,
      clientId: clientIdOf(local.runId),
      formerClientId: 'formerRunId' in local && local.formerRunId !== null ? clientIdOf(local.formerRunId) : null,
    }
  } catch (error) {
    if (error instanceof LocalKafkaError) throw new StartupError(error.message)
    throw error
  }
}
