import { deadLetterJson, withMembers } from '@barnabas/core'
import type { DeadLetterShape, JsonText, KafkaRecord } from '@barnabas/core'

/** The event as a CloudEvent, what is known of its delivery, and whose it is, for several may share a target (row B6). */
export function letterEvent(letter: KafkaRecord, shapeOf: (subscriptionId: string) => DeadLetterShape): JsonText {
  const id = letter.headers['barnabas-subscription']
  const subscription = Buffer.isBuffer(id) ? id.toString('utf8') : ''
  const event = deadLetterJson(letter, { ...shapeOf(subscription), schema: 'CloudEventSchemaV1_0' })
  return withMembers(event, [['barnabassubscription', Buffer.from(JSON.stringify(subscription))]])
}
