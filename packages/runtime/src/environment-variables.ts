/** One environment variable, as the documentation's table shows it. */
export interface EnvironmentVariable {
  /** `<…>` stands for a part that the user chooses. */
  readonly name: string
  /** What happens when it is unset, in words. */
  readonly default: string
  readonly meaning: string
  /** A secret is never printed, and can be given as the content of a file named by `<name>_FILE`. */
  readonly secret: boolean
}

const variable = (name: string, unset: string, meaning: string): EnvironmentVariable => ({
  name,
  default: unset,
  meaning,
  secret: false,
})
const secret = (name: string, unset: string, meaning: string): EnvironmentVariable => ({
  ...variable(name, unset, meaning),
  secret: true,
})

/** Every variable that Barnabas reads. A variable that is set to the empty string counts as unset. */
export const environmentVariables: readonly EnvironmentVariable[] = [
  variable('KAFKA_BROKERS', 'the broker that `pnpm start` runs', 'Kafka to use: host:port, comma-separated'),
  variable('KAFKA_SSL', 'false', 'TLS to Kafka'),
  variable('KAFKA_SSL_CA_FILE', "Node's own", 'PEM file of the certificate authorities that the brokers may use'),
  variable('KAFKA_SSL_CERT_FILE', 'none', 'PEM file of the client certificate'),
  variable('KAFKA_SSL_KEY_FILE', 'none', 'PEM file of the private key of the client certificate'),
  variable('KAFKA_SASL_MECHANISM', 'none', '`plain`, `scram-sha-256` or `scram-sha-512`'),
  variable('KAFKA_SASL_USERNAME', 'none', 'user name for SASL'),
  secret('KAFKA_SASL_PASSWORD', 'none', 'password for SASL'),
  variable('BARNABAS_PREFIX', 'barnabas', 'first part of the names of all topics and consumer groups of Barnabas'),
  variable('BARNABAS_PARTITIONS', '8', 'partitions of topics that Barnabas creates'),
  variable('BARNABAS_TIER_PARTITIONS', '8', 'partitions of retry topics; bounds the number of useful retriers'),
  variable(
    'BARNABAS_REPLICATION',
    'the smaller of 3 and the number of brokers',
    'replicas of topics that Barnabas creates',
  ),
  variable('BARNABAS_DATA_DIR', '.barnabas', 'data of the local broker'),
  variable('BARNABAS_KAFKA_PORT', '9092, else the next free one', 'port of the local broker, on 127.0.0.1'),
  variable('BARNABAS_HTTP_HOST', '127.0.0.1', 'address that `/livez`, `/readyz` and `/metrics` listen on'),
  variable('BARNABAS_HTTP_PORT', '8080 for `pnpm start`, off for a single service', 'their port; 0 for any free one'),
  variable('BARNABAS_DEMO', '`true` on a broker of its own, `false` with KAFKA_BROKERS', '`pnpm start` plays its demo'),
  variable(
    'BARNABAS_ALLOWED_NETWORKS',
    'none; loopback for `pnpm start`',
    'CIDRs that webhooks may reach besides public addresses',
  ),
  variable('BARNABAS_EVENT_GRID_MAX_ATTEMPTS', '30', "attempts of subscriptions in Event Grid's notation, 1 to 30"),
  variable('BARNABAS_EVENT_GRID_TIME_TO_LIVE', '24h', 'their time to live, `1m` to `24h`'),
  variable('BARNABAS_EVENT_GRID_BATCH_MAX_EVENTS', '10', 'events of their batches that name a size alone, 1 to 5000'),
  variable(
    'BARNABAS_EVENT_GRID_BATCH_PREFERRED_SIZE',
    '64KB; 1,058,576 bytes with `notation: event-grid-kubernetes`',
    'size of their batches that name a count alone, `1KB` to `1024KB`',
  ),
  variable('BARNABAS_PUBLIC_URL', 'none', 'where validation and callback URLs of handshakes reach Barnabas'),
  variable(
    'BARNABAS_ORIGIN',
    'the host of BARNABAS_PUBLIC_URL, else barnabas.local',
    'the DNS name that Barnabas gives in handshakes',
  ),
  variable('BARNABAS_DRAIN_TIMEOUT', '25s; 8s for `pnpm start`', 'how long a stop waits for attempts under way'),
  variable('BARNABAS_TIME_SCALE', '1', 'for tests only: factor of every duration of subscriptions and retry topics'),
  variable('BARNABAS_SESSION_TIMEOUT', '10s', 'after which silence Kafka takes a member of a consumer group for dead'),
  variable('BARNABAS_LOG_LEVEL', 'info', '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`'),
  variable(
    'BARNABAS_BLOB_<ACCOUNT>_ENDPOINT',
    "Azure's own",
    'where dead-letter blobs of that storage account go: a URL, or a folder as `file:///…`',
  ),
  secret('BARNABAS_BLOB_<ACCOUNT>_KEY', "Azure's default credential chain", 'key of that storage account'),
  variable('BARNABAS_TEST_KAFKA', 'none', "`container`: the tests' Kafka comes from testcontainers"),
  secret('BARNABAS_SECRET_<NAME>', 'none', 'what `{ secret: NAME }` in a subscription means'),
  variable('BARNABAS_SECRETS_DIR', 'none', 'directory with one file per secret, of the same name'),
  variable('BARNABAS_DESTINATIONS_FILE', 'none', 'API destinations that `barnabas apply` finds by name'),
  variable('BARNABAS_CLUSTERS_FILE', 'none', 'other Kafka clusters that events are delivered to, by their names'),
  variable(
    'BARNABAS_TARGETS_FILE',
    'none',
    'accounts of Alibaba Cloud that dead letters are carried to, by their names',
  ),
]
