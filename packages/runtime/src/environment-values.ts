import { isIP } from 'node:net'
import { durationInMs } from './duration.ts'

/** What became of one variable's text; `reason` says what is wrong and what is allowed, without the full stop. */
export type Parsed<Value> =
  { readonly kind: 'ok'; readonly value: Value } | { readonly kind: 'bad'; readonly reason: string }

/** Reads the trimmed, non-empty text of a variable. */
export type Parse<Value> = (text: string) => Parsed<Value>

const ok = <Value>(value: Value): Parsed<Value> => ({ kind: 'ok', value })
const bad = (reason: string): Parsed<never> => ({ kind: 'bad', reason })

export const anyText: Parse<string> = ok

export function wholeNumber(min: number, max: number): Parse<number> {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= min && value <= max ? ok(value) : bad(`allowed is a whole number from ${min} to ${max}`)
  }
}

export const flag: Parse<boolean> = (text) => {
  const lower = text.toLowerCase()
  if (lower === 'true') return ok(true)
  if (lower === 'false') return ok(false)
  return bad('allowed is true or false')
}

/** One of the names, in whatever case people write them (Kafka's own settings say `SCRAM-SHA-256`). */
export function oneOf<Name extends string>(names: readonly Name[]): Parse<Name> {
  return (text) => {
    const found = names.find((name) => name === text.toLowerCase())
    return found === undefined ? bad(`allowed is one of ${names.join(', ')}`) : ok(found)
  }
}

export function duration(minMs: number, maxMs: number, range: string): Parse<number> {
  return (text) => {
    const ms = durationInMs(text)
    if (ms !== null && ms >= minMs && ms <= maxMs) return ok(ms)
    return bad(`allowed is a duration such as 500ms, 30s or 5m, ${range}`)
  }
}

const unitsBytes = { B: 1, KB: 1_024, MB: 1_048_576 } as const

/** Bytes, as people write them in subscriptions: `512B`, `64KB`, `1MB` (1,024 each). */
export function size(minBytes: number, maxBytes: number, range: string): Parse<number> {
  return (text) => {
    const match = /^(\d{1,9})(B|KB|MB)$/.exec(text)
    const bytes = match === null ? Number.NaN : Number(match[1]) * unitsBytes[match[2] as keyof typeof unitsBytes]
    return bytes >= minBytes && bytes <= maxBytes ? ok(bytes) : bad(`allowed is a size such as 64KB, ${range}`)
  }
}

/** A factor: a plain decimal number above 0 and up to 1000. */
export const factor: Parse<number> = (text) => {
  const value = /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN
  return value > 0 && value <= 1000 ? ok(value) : bad('allowed is a number above 0 and up to 1000, such as 1 or 0.01')
}

/**
 * Kafka allows 249 characters in a topic name; the longest that Barnabas puts behind the prefix is `.dead-letter.blob.`
 * (of a consumer group, held to the same rule), a storage account of 24, a dot and a container of 63.
 */
export const prefixCharactersMax = 249 - '.dead-letter.blob.'.length - 24 - '.'.length - 63

export const topicPrefix: Parse<string> = (text) => {
  const legal = /^[A-Za-z0-9._-]+$/.test(text) && text.length <= prefixCharactersMax
  return legal ? ok(text) : bad(`allowed are letters, digits, ".", "_" and "-", at most ${prefixCharactersMax} in all`)
}

/** A name or address to listen on, without scheme and port. */
export const hostName: Parse<string> = (text) =>
  isIP(text) !== 0 || isHostName(text) ? ok(text) : bad('allowed is an IP address or a host name, without a port')

/** A name that stands for all processes of an installation: of at least one letter, since an address is none. */
export const dnsName: Parse<string> = (text) =>
  isIP(text) === 0 && /[A-Za-z]/.test(text) && isHostName(text)
    ? ok(text)
    : bad('allowed is a DNS name, such as barnabas.example.com')

/** Answered without a slash at its end. */
export const publicUrlText: Parse<string> = (text) => {
  const url = URL.parse(text)
  const isPlain = url !== null && url.username === '' && url.password === '' && !/[?#]/.test(text)
  if (!isPlain || !/^https?:$/.test(url.protocol) || text.length > 1_000) {
    return bad('allowed is an http(s) URL without user name, query and fragment, such as https://barnabas.example.com')
  }
  return ok(url.href.replace(/\/+$/, ''))
}

/** `host:port,host:port`. The Kafka client splits at the first colon, so IPv6 addresses need a host name. */
export const brokerList: Parse<readonly string[]> = (text) => {
  const brokers = entriesOf(text)
  if (brokers.length === 0) return bad('allowed is host:port, several separated by commas')
  for (const broker of brokers) {
    const quoted = JSON.stringify(broker)
    if (broker.startsWith('[') || isIP(broker) === 6)
      return bad(`${quoted} is an IPv6 address; write a host name for it`)
    const [host = '', port, ...rest] = broker.split(':')
    if (!isHostName(host) || rest.length > 0) return bad(`${quoted} is not host:port (without scheme, user and path)`)
    if (port === undefined) return bad(`${quoted} has no port; write ${broker}:9092 or the like`)
    if (wholeNumber(1, 65_535)(port).kind === 'bad')
      return bad(`the port of ${quoted} is not a whole number from 1 to 65535`)
  }
  return ok(brokers)
}

/** Networks such as `10.0.0.0/8` or `fd00::/8`, separated by commas. Only the form is looked at here. */
export const networkList: Parse<readonly string[]> = (text) => {
  const networks = entriesOf(text)
  if (networks.length === 0) return bad('allowed are networks such as 10.0.0.0/8, separated by commas')
  for (const network of networks) {
    const [address = '', bits, ...rest] = network.split('/')
    const family = address.includes('%') ? 0 : isIP(address)
    const bitsMax = family === 6 ? 128 : 32
    const quoted = JSON.stringify(network)
    if (family === 0 || rest.length > 0) return bad(`${quoted} is not a network such as 10.0.0.0/8 or fd00::/8`)
    if (bits === undefined)
      return bad(`${quoted} has no prefix length; write ${address}/${bitsMax} for that one address`)
    if (wholeNumber(0, bitsMax)(bits).kind === 'bad')
      return bad(`the prefix length of ${quoted} is not a whole number from 0 to ${bitsMax}`)
  }
  return ok(networks)
}

function isHostName(text: string): boolean {
  return (
    text.length <= 253 &&
    /^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/.test(text)
  )
}

function entriesOf(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
}
