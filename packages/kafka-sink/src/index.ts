export { createKafkaSender } from './sender.ts'
export type { KafkaAttemptOptions, KafkaSender, KafkaSenderOptions } from './sender.ts'
export type { SinkClient } from './sink-client.ts'
