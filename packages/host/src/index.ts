export { openHost } from './host.ts'
export type { Host, HostedService, HostOptions, InPlaceEvents } from './host.ts'
export { runHosted } from './run-hosted.ts'
export type { Clusters } from './clusters.ts'
export type {
  AccountKind,
  AlibabaCredentials,
  FoundConnection,
  RocketMqConnection,
  TargetAccounts,
  UnknownConnection,
} from './target-accounts.ts'
