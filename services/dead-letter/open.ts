import { blobLimits, blobTargetText, targetText, targetsMax, unknownShape } from '@barnabas/core'
import type { BlobTarget, DeadLetterShape, DeadLetterTarget, Subscription } from '@barnabas/core'
import type { Host, HostedService } from '@barnabas/host'
import { createBlobReader } from './blob-reader.ts'
import { openBlobSink } from './open-blob-sink.ts'
import { openTarget } from './open-target.ts'
import { createReaderPerTarget } from './reader-per-target.ts'
import { createDeadLetterService } from './service.ts'
import type { Reader } from './service.ts'
import { createTargetReader } from './target-reader.ts'

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
    return createReaderPerTarget<BlobTarget>({
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
      textOf: blobTargetText,
      readersMax: blobLimits.containersMax,
      tooMany: (leftOut) =>
        `more than ${blobLimits.containersMax} containers are named; no dead letters are written into ${leftOut}`,
      logger,
    })
  }

  /** What comes into such a topic may become the same dead letter again, for ever. */
  function isCircular(target: DeadLetterTarget, topic: string): boolean {
    if (names.isInternal(topic) || topic === names.deadLetter) return true
    return registry.all().some((entry) => {
      if (entry.kind !== 'valid' || entry.subscription.deadLetter === null) return false
      const { topics, deadLetter } = entry.subscription
      if (deadLetter.target === undefined || targetText(deadLetter.target) !== targetText(target)) return false
      return deadLetter.topic === topic || topics.includes(topic)
    })
  }

  function targetReaders(lookAgain: () => void): Reader {
    return createReaderPerTarget<DeadLetterTarget>({
      wanted: () =>
        deadLettering().flatMap(({ topic, target }) => (target === undefined ? [] : { target, topics: [topic] })),
      open: (target, topics) =>
        createTargetReader({
          kafka,
          names,
          target,
          to: openTarget(target, {
            kafka,
            clusters: host.clusters,
            accounts: host.targetAccounts,
            shapeOf,
            isCircular,
          }),
          topics,
          onStopped: lookAgain,
          counts: metrics,
          sessionTimeoutMs: config.sessionTimeoutMs,
          logger,
        }),
      textOf: targetText,
      readersMax: targetsMax,
      tooMany: (leftOut) => `more than ${targetsMax} targets are named; no dead letters are carried to ${leftOut}`,
      logger,
    })
  }

  const deadLetter = createDeadLetterService({
    kafka,
    names,
    topics: () => [names.deadLetter, ...deadLettering().map(({ topic }) => topic)],
    onDeadLetter,
    targets: (lookAgain) => [blobReaders(lookAgain), targetReaders(lookAgain)],
    sessionTimeoutMs: config.sessionTimeoutMs,
    isToldElsewhere: (id) => host.toldElsewhere.has(id),
    logger,
  })
  host.onChange(() => deadLetter.changed())
  await deadLetter.start()
  return deadLetter
}
