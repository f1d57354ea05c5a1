/** The broker's files in the data directory. The broker runs in it, so that its own settings hold relative paths only. */
export const brokerFiles = {
  data: 'kafka',
  properties: 'server.properties',
  logging: 'log4j2.xml',
  log: 'kafka.log',
} as const

export const kafkaVersion = '4.4.0'

/** Kept small: a broker for one person or one test run. */
const defaults = {
  'process.roles': 'broker,controller',
  'node.id': '1',
  'controller.listener.names': 'CONTROLLER',
  'inter.broker.listener.name': 'PLAINTEXT',
  'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
  'auto.create.topics.enable': 'false',
  'default.replication.factor': '1',
  'offsets.topic.replication.factor': '1',
  'offsets.topic.num.partitions': '8',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'transaction.state.log.num.partitions': '8',
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
  'group.initial.rebalance.delay.ms': '0',
  'group.min.session.timeout.ms': '1000',
  // The default takes 128 MiB of the heap as soon as the broker runs.
  'log.cleaner.dedupe.buffer.size': String(16 << 20),
} as const

/** Everything in the broker's `server.properties`; `overrides` win. Only 127.0.0.1 is ever listened on. */
export function brokerProperties(
  ports: { readonly broker: number; readonly controller: number },
  overrides: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    ...defaults,
    listeners: `PLAINTEXT://127.0.0.1:${ports.broker},CONTROLLER://127.0.0.1:${ports.controller}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${ports.broker}`,
    'controller.quorum.voters': `1@127.0.0.1:${ports.controller}`,
    'log.dirs': brokerFiles.data,
    ...overrides,
  }
}

/** In the format of java.util.Properties, which is read as Latin-1. */
export function formatProperties(properties: Readonly<Record<string, string>>): string {
  const escape = (text: string, special: RegExp) =>
    text
      .replace(special, '\\$&')
      .replace(/\n/g, '\\n')
      .replace(/\r/g, '\\r')
      .replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
  return Object.entries(properties)
    .map(([key, value]) => `${escape(key, /[\\ :=#!]/g)}=${escape(value, /\\|^ /g)}\n`)
    .join('')
}

/** Reads what `formatProperties` and Kafka itself write (one line each, no continuation). */
export function parseProperties(text: string): Record<string, string> {
  const properties: Record<string, string> = {}
  for (const line of text.split(/\r?\n/)) {
    if (/^\s*([#!]|$)/.test(line)) continue
    const [, key, value] = /^\s*((?:\\.|[^\\=:\s])+)\s*[=:]?\s*(.*)$/.exec(line) ?? []
    if (key !== undefined && value !== undefined) properties[unescape(key)] = unescape(value)
  }
  return properties
}

function unescape(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/g, (_, code: string | undefined, char: string | undefined) => {
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16))
    return char === 'n' ? '\n' : char === 'r' ? '\r' : char === 't' ? '\t' : (char ?? '')
  })
}

/** The broker's log: one file of at most 10 MB and three older ones. */
export const loggingConfig = `<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="WARN" shutdownHook="disable">
  <Appenders>
    <RollingFile name="file" fileName="${brokerFiles.log}" filePattern="${brokerFiles.log}.%i">
      <PatternLayout pattern="[%d] %p %m (%c)%n"/>
      <SizeBasedTriggeringPolicy size="10 MB"/>
      <DefaultRolloverStrategy max="3"/>
    </RollingFile>
  </Appenders>
  <Loggers>
    <Root level="INFO"><AppenderRef ref="file"/></Root>
  </Loggers>
</Configuration>
`
