import type { logCreator } from 'kafkajs'

/** Where log lines go; pino's shape. */
export interface KafkaLogger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

/**
 * The client's own lines, all at debug. It logs as errors what it then retries by itself (a coordinator that is
 * loading, a broker that is starting), and what it does not retry reaches us as a rejection or a crash event,
 * where it is reported once and in our words.
 */
export function createLogCreator(logger: KafkaLogger): logCreator {
  return () =>
    ({ namespace, label, log }) => {
      const { message, timestamp: _timestamp, logger: _logger, ...fields } = log
      logger.debug({ ...fields, client: namespace, clientLevel: label }, `kafkajs: ${message}`)
    }
}
