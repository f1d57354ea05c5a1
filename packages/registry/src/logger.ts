/** What the registry needs of a logger: pino's shape. */
export interface Logger {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}
