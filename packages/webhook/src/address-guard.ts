import { BlockList, isIP } from 'node:net'
import { destinationForDisplay } from '@barnabas/core'
import { globalUnicastV6, specialNetworks } from './special-networks.ts'

export type AddressCheck =
  | { readonly kind: 'allowed' }
  /** `message` says what the address is and how to allow it, in one line. */
  | { readonly kind: 'forbidden'; readonly message: string }

export type SinkProtocol = 'http:' | 'https:'

/** Where webhooks may go: public addresses and the allowed networks, `http://` only to the latter. */
export interface AddressGuard {
  /** Whether a request may go to this IP address. An IPv6 zone (`%eth0`) is left out of account. */
  check(address: string, protocol: SinkProtocol): AddressCheck
  /**
   * What can be said of a sink before any attempt and without a look-up. A name is allowed here, but for
   * `localhost` where loopback is not allowed; what it resolves to is checked when a connection is made.
   */
  checkSink(url: string): AddressCheck
}

export type AddressGuardResult =
  { readonly kind: 'guard'; readonly guard: AddressGuard } | { readonly kind: 'invalid'; readonly message: string }

const allowed: AddressCheck = { kind: 'allowed' }
const forbidden = (message: string): AddressCheck => ({ kind: 'forbidden', message })

/**
 * The guard against server-side request forgery (interface, "Where webhooks may go").
 *
 * `allowedNetworks` are CIDRs (`10.0.0.0/8`, `::1/128`) or single addresses, the value of BARNABAS_ALLOWED_NETWORKS;
 * the first bad one makes the result `invalid`, with a message that names it.
 */
export function addressGuard(allowedNetworks: readonly string[]): AddressGuardResult {
  const allowList = new BlockList()
  for (const network of allowedNetworks) {
    if (!addNetwork(allowList, network.trim())) {
      return {
        kind: 'invalid',
        message: `BARNABAS_ALLOWED_NETWORKS: "${network}" is no network; write address/prefix, such as 10.0.0.0/8 or ::1/128`,
      }
    }
  }

  const check = (address: string, protocol: SinkProtocol): AddressCheck => {
    const plain = withoutZone(address)
    if (isIP(plain) === 0) return forbidden(`"${address}" is no IP address`)
    if (contains(allowList, plain)) return allowed
    const special = specialNetworkOf(plain)
    if (special !== undefined) {
      const suggestion = special.suggestion ?? singleNetwork(plain)
      return forbidden(`${plain} is ${special.name}; allow it with BARNABAS_ALLOWED_NETWORKS=${suggestion}`)
    }
    if (protocol === 'https:') return allowed
    return forbidden(
      `http:// may not go to the public address ${plain}; use https://, or allow it with ` +
        `BARNABAS_ALLOWED_NETWORKS=${singleNetwork(plain)}`,
    )
  }

  const checkSink = (url: string): AddressCheck => {
    const sink = URL.parse(url)
    if (sink === null) return forbidden('not a URL; write https://host/path')
    const shown = (): string => destinationForDisplay(url)
    if (sink.protocol !== 'http:' && sink.protocol !== 'https:') {
      return forbidden(`${shown()} begins with ${sink.protocol}; only https:// and http:// are allowed`)
    }
    if (sink.username !== '' || sink.password !== '') {
      return forbidden(`${shown()} carries a user name or password; take it out of the URL, where everybody sees it`)
    }
    if (url.includes('#')) return forbidden(`${shown()} carries a fragment (#), which is never sent; take it out`)
    const host = hostOf(sink)
    if (isIP(host) !== 0) return check(host, sink.protocol)
    if (isLocalhost(host)) return checkLocalhost(host, sink.protocol)
    return allowed
  }

  const checkLocalhost = (host: string, protocol: SinkProtocol): AddressCheck => {
    // Which of the two it resolves to is seen at the attempt; here it is enough that one of them could work.
    const reachable = ['127.0.0.1', '::1'].some((address) => check(address, protocol).kind === 'allowed')
    if (reachable) return allowed
    return forbidden(`${host} is a loopback address; allow it with BARNABAS_ALLOWED_NETWORKS=127.0.0.0/8,::1/128`)
  }

  return { kind: 'guard', guard: { check, checkSink } }
}

/** The host as a plain name or address, without the brackets that a URL puts around IPv6. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}

/** RFC 6761, 6.3: `localhost` and every name below it is loopback. */
function isLocalhost(host: string): boolean {
  return /(^|\.)localhost\.?$/.test(host)
}

function withoutZone(address: string): string {
  return address.replace(/%.*$/, '')
}

function singleNetwork(address: string): string {
  return `${address}/${isIP(address) === 4 ? 32 : 128}`
}

const special = specialNetworks.map((entry) => ({ ...entry, list: listOf(entry.network) }))
const globalUnicast = listOf(globalUnicastV6)

function specialNetworkOf(address: string): { name: string; suggestion: string | null } | undefined {
  const known = special.find((entry) => contains(entry.list, address))
  if (known !== undefined) return known
  const isPublic = isIP(address) === 4 || isMappedV4(address) || contains(globalUnicast, address)
  return isPublic ? undefined : { name: 'a reserved address', suggestion: null }
}

const mappedV4 = listOf('::ffff:0:0/96')

/** A v4-mapped address is what its IPv4 address is: BlockList compares it with IPv4 rules too. */
function isMappedV4(address: string): boolean {
  return contains(mappedV4, address)
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6')
}

function listOf(network: string): BlockList {
  const list = new BlockList()
  if (!addNetwork(list, network)) throw new Error(`${network} is no network`)
  return list
}

/** False when `network` is neither an address nor address/prefix. */
function addNetwork(list: BlockList, network: string): boolean {
  const [address = '', prefix, ...rest] = network.split('/')
  const version = isIP(address)
  if (version === 0 || address.includes('%') || rest.length > 0) return false
  const bitsMax = version === 4 ? 32 : 128
  const bits = prefix === undefined ? bitsMax : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
  if (!(bits >= 0 && bits <= bitsMax)) return false
  list.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6')
  return true
}
