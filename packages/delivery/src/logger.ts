/** What the engine needs of a logger: pino's shape. */
export interface Logger {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
  /** Where it is there, what would not be written need not be put together. */
  isLevelEnabled?(level: 'debug' | 'info'): boolean
}
