import { unknownShape } from '@barnabas/core'
import type { DeadLetterShape, Subscription } from '@barnabas/core'
import type { Host, HostedService } from '@barnabas/host'
import { createBlobReader } from './blob-reader.ts'
import { createBlobReaders } from './blob-readers.ts'
import { openBlobSink } from './open-blob-sink.ts'
import { createDeadLetterService } from './service.ts'
import type { Reader } from './service.ts'

/** Opens the dead-letter service in this process. `onDeadLetter` counts; in a process that also delivers they are counted there. */
export async function openDeadLetter(
  host: Host,
  onDeadLetter: (subscriptionId: string, reason: string) => void,
): Promise<HostedService> {
  const { kafka, names, registry, config, metrics, logger } = host

  function deadLettering(): readonly NonNullable<Subscription['deadLetter']>[] {
    return registry.all().flatMap((entry) => (entry.kind === 'valid' ? (entry.subscription.deadLetter ?? []) : []))
  }

  function shapeOf(id: string): DeadLetterShape {
    const entry = registry.get(id)
    return entry?.kind === 'valid' ? entry.subscription : unknownShape
  }

  function blobReaders(lookAgain: () => void): Reader {
    return createBlobReaders({
      wanted: () =>
        deadLettering().flatMap(({ topic, blob }) => (blob === undefined ? [] : { target: blob, topics: [topic] })),
      open: (target, topics) =>
        createBlobReader({
          kafka,
          names,
          target,
          topics,
          shapeOf,
          openSink: (of) => openBlobSink(of, config.blobAccounts),
          onStopped: lookAgain,
          counts: metrics,
          sessionTimeoutMs: config.sessionTimeoutMs,
          timeScale: config.timeScale,
          now: Date.now,
          logger,
        }),
      logger,
    })
  }

  const deadLetter = createDeadLetterService({
    kafka,
    names,
    topics: () => [names.deadLetter, ...deadLettering().map(({ topic }) => topic)],
    onDeadLetter,
    targets: (lookAgain) => [blobReaders(lookAgain)],
    sessionTimeoutMs: config.sessionTimeoutMs,
    isToldElsewhere: (id) => host.toldElsewhere.has(id),
    logger,
  })
  host.onChange(() => deadLetter.changed())
  await deadLetter.start()
  return deadLetter
}
