import { decodeCustomEvent } from './custom-event.ts'
import { decodeEventGridEvent } from './event-grid-event.ts'
import { decodeEvent } from './event.ts'
import type { DecodedEvent } from './event.ts'
import { decodeKafkaRecord, kafkaRecordDefault } from './kafka-record-event.ts'
import type { SourcePosition } from './delivery-state.ts'
import type { KafkaRecord } from './record.ts'
import type { Subscription } from './subscription.ts'

/** What of a subscription says how its records are read; any subscription is one. */
export type InputSchema = Pick<Subscription, 'input' | 'inputSchemaMapping' | 'kafkaRecord'>

/**
 * Reads a record as what the subscription says that its topics carry (interface, `input`). `source` and `publishTime`
 * are those of the record on its source topic, also where it is read from a retry topic: what is made of them is the
 * same on every attempt. The record's key and headers count for CloudEvents and for
 * plain records alone.
 */
export function decodeInput(
  { input, inputSchemaMapping, kafkaRecord = kafkaRecordDefault }: InputSchema,
  record: Pick<KafkaRecord, 'value' | 'headers'> & { readonly key?: KafkaRecord['key'] },
  source: SourcePosition,
  publishTime: number,
): DecodedEvent {
  switch (input) {
    case 'cloudevents':
      return decodeEvent(record)
    case 'event-grid':
      return decodeEventGridEvent(record.value, source.topic)
    case 'custom': {
      const { topic, partition, offset } = source
      return decodeCustomEvent(record.value, inputSchemaMapping, { topic, partition, offset, publishTime })
    }
    case 'kafka-record': {
      const { key = null, value, headers } = record
      const { topic, partition, offset } = source
      return decodeKafkaRecord({ key, value, headers }, kafkaRecord, { topic, partition, offset, publishTime })
    }
    default:
      return input satisfies never
  }
}
