export type { KafkaClient } from './port.ts'
