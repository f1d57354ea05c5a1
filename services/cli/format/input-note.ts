import type { Subscription } from '@barnabas/core'

/**
 * What somebody has to know who has just applied a subscription in Event Grid's notation and tries it: its events are
 * not those that everything else here makes. Null where there is nothing to say.
 */
export function inputNote({ id, input, topics }: Pick<Subscription, 'id' | 'input' | 'topics'>): string | null {
  if (input !== 'event-grid') return null
  const send = `barnabas send ${topics[0] ?? 'TOPIC'} --input event-grid`
  return `${id}: takes what is on ${topics.join(', ')} for events in Event Grid's schema, and CloudEvents there become dead letters; \`${send}\` makes one, and for CloudEvents write \`input: cloudevents\` and \`schema: CloudEventSchemaV1_0\``
}
