export { openHost } from './host.ts'
export type { Host, HostOptions } from './host.ts'
export { runHosted } from './run-hosted.ts'
