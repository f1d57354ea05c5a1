import type { KafkaClient } from '@barnabas/kafka'
import type { Health } from '@barnabas/runtime'

const lookEveryMs = 2_000
/** A loop that has said nothing for this many session time-outs while the broker answers has stalled: a restart mends it. */
const stalledAfterSessions = 3

/**
 * Tells `/readyz` when the consumers have lost their groups, and `/livez` when their loops have stalled although
 * Kafka answers (the client is known to stall silently). Gives back the function that ends it.
 */
export function watchHeartbeats(
  services: readonly { readonly lastHeartbeatAt?: number }[],
  options: {
    readonly kafka: Pick<KafkaClient, 'admin'>
    readonly health: Pick<Health, 'set'>
    readonly sessionTimeoutMs: number
  },
): () => void {
  const { kafka, health, sessionTimeoutMs } = options

  async function look(): Promise<void> {
    const oldest = Math.min(...services.map((each) => each.lastHeartbeatAt ?? Infinity))
    const silentMs = Date.now() - oldest
    const ready = !(silentMs > sessionTimeoutMs)
    const isStalled = silentMs > stalledAfterSessions * sessionTimeoutMs && (await answers(kafka))
    const detail = ready
      ? 'consumers are in their groups'
      : `no heartbeat was acknowledged for ${Math.round(silentMs / 1_000)} s`
    health.set('consumers', { ready, live: !isStalled, detail })
  }

  const timer = setInterval(() => void look(), lookEveryMs)
  return () => clearInterval(timer)
}

async function answers(kafka: Pick<KafkaClient, 'admin'>): Promise<boolean> {
  try {
    await kafka.admin.brokerCount()
    return true
  } catch {
    return false
  }
}
