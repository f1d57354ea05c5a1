import { openDispatcher } from '@barnabas/dispatcher'
import { runHosted } from '@barnabas/host'
import { connectKafka } from '@barnabas/kafka'

/** The dispatcher as a process that cannot read zstd: codecs are one set per process, and the last connection decides. */
await runHosted('dispatcher', (host) => {
  connectKafka({
    brokers: host.config.kafka.brokers ?? [],
    clientId: 'never-connected',
    logger: host.logger,
    codecs: ['gzip', 'snappy', 'lz4'],
  })
  return openDispatcher(host)
})
