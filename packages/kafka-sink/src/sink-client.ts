import type { KafkaClient } from '@barnabas/kafka'

/** The Kafka that a sink is in, or what is missing to reach it. */
export type SinkClient =
  { readonly kind: 'client'; readonly kafka: KafkaClient } | { readonly kind: 'unknown'; readonly message: string }
