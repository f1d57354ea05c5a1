export interface LocalKafkaOptions {
  /** Kept with mode 0700; what stands in it survives restarts. */
  readonly dataDir: string
  /** Default 9092; 0 means any free port. */
  readonly port?: number
  /** A taken port is an error; otherwise the next free one is used and `onProgress` says so. */
  readonly portIsFixed?: boolean
  /** The broker's largest heap; resident memory is some 60 MB more. Default 512. */
  readonly heapMb?: number
  /** Further options of the JVM: `fastStartJvmFlags` for tests. */
  readonly jvmFlags?: readonly string[]
  /** Override those of `brokerProperties`. */
  readonly serverProperties?: Readonly<Record<string, string>>
  /** For tests: what a new data directory is given, for instance `--add-scram` with a user. */
  readonly formatArguments?: readonly string[]
  /** One line for a person, for instance while the jars are fetched. */
  readonly onProgress?: (message: string) => void
  /** Left in `broker.json` for the command line. */
  readonly allowedNetworks?: readonly string[]
  /** Names this run in `broker.json`; the next run finds it as `formerRunId`. Default: random. */
  readonly runId?: string
  /**
   * Default false: the broker outlives a killed parent, and the next start uses it. True for tests: it is killed
   * together with this process. An adopted broker stays as it was started.
   */
  readonly endsWithParent?: boolean
  /** `JAVA_HOME`, `PATH` and `XDG_CACHE_HOME` are read. Default: that of the process. */
  readonly env?: NodeJS.ProcessEnv
  /** Cuts a start off: whatever was started is ended, and the promise rejects with code `Aborted`. */
  readonly signal?: AbortSignal
}

export interface BrokerExit {
  /** Both null for an adopted broker, which is not our child. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}
