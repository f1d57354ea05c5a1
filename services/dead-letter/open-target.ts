import { randomUUID } from 'node:crypto'
import type { DeadLetterShape, DeadLetterTarget, TargetKind } from '@barnabas/core'
import type { AccountKind, Clusters, TargetAccounts } from '@barnabas/host'
import type { KafkaClient } from '@barnabas/kafka'
import { createPoster } from '@barnabas/webhook'
import { createAccountTarget } from './account-target.ts'
import { createKafkaTarget } from './kafka-target.ts'
import { createRocketMqTarget } from './rocketmq-target.ts'
import type { Target } from './target.ts'

export interface TargetSurroundings {
  readonly kafka: KafkaClient
  readonly clusters: Clusters
  readonly accounts: Pick<TargetAccounts, 'find' | 'findRocketMq'>
  readonly shapeOf: (subscriptionId: string) => DeadLetterShape
  /** Whether what is written into a topic of this name on the own Kafka would come round again. */
  readonly isCircular: (target: DeadLetterTarget, topic: string) => boolean
}

type OpenTarget = (target: DeadLetterTarget, surroundings: TargetSurroundings) => Target

/** What is behind each kind of target. */
const openers: Record<TargetKind, OpenTarget> = {
  kafka: (target, { kafka, clusters, isCircular }) =>
    createKafkaTarget({
      topic: target.resource,
      client: () => clusters.client(target.connection),
      own: kafka,
      isCircular: (topic) => isCircular(target, topic),
    }),
  rocketmq: ({ connection, resource }, { accounts, shapeOf }) =>
    createRocketMqTarget({ topic: resource, connection: () => accounts.findRocketMq(connection), shapeOf }),
  mns: (target, surroundings) => accountTarget('mns', target, surroundings),
  eventbridge: (target, surroundings) => accountTarget('eventbridge', target, surroundings),
}

function accountTarget(
  kind: AccountKind,
  { connection, resource }: DeadLetterTarget,
  { accounts, shapeOf }: TargetSurroundings,
): Target {
  return createAccountTarget({
    kind,
    resource,
    connection: () => accounts.find(kind, connection),
    shapeOf,
    poster: createPoster(),
    now: Date.now,
    nonce: randomUUID,
  })
}

/** Opens a target; connects to nothing. */
export function openTarget(target: DeadLetterTarget, surroundings: TargetSurroundings): Target {
  return openers[target.kind](target, surroundings)
}
