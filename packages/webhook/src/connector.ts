import { lookup as dnsLookup, type LookupAddress } from 'node:dns'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import { buildConnector } from 'undici'
import type { AddressGuard, SinkProtocol } from './address-guard.ts'

/** The address, literal or resolved, is one that webhooks may not reach; the message says which and how to allow it. */
export class ForbiddenAddressError extends Error {
  override readonly name = 'ForbiddenAddressError'
}

/** All addresses of a name, as `dns.lookup` with `all` gives them. */
export type ResolveAll = (
  hostname: string,
  callback: (error: Error | null, addresses: readonly LookupAddress[]) => void,
) => void

const resolveWithSystem: ResolveAll = (hostname, callback) => {
  dnsLookup(hostname, { all: true }, callback)
}

/**
 * Makes connections to allowed addresses only. Three checks, because each alone has a hole: a literal address never
 * goes through a look-up; a name may resolve to several addresses, or to another one next time, so that all of what
 * it resolves to now is checked and exactly that is connected; and the address of the connected socket has the last
 * word. No time-out here: the attempt's deadline destroys a socket that is still connecting.
 */
export function guardedConnector(guard: AddressGuard, resolveAll: ResolveAll = resolveWithSystem) {
  // HTTP/1.1 alone: over HTTP/2 one connection would carry many attempts, and a stop would cut all of them off.
  const build = (protocol: SinkProtocol): buildConnector.connector =>
    buildConnector({ lookup: guardedLookup(guard, resolveAll, protocol), timeout: 0, allowH2: false })
  const connectors = { 'http:': build('http:'), 'https:': build('https:') }

  return (options: buildConnector.Options, callback: buildConnector.Callback): Socket | undefined => {
    const protocol: SinkProtocol = options.protocol === 'https:' ? 'https:' : 'http:'
    if (isIP(options.hostname) !== 0) {
      const literal = guard.check(options.hostname, protocol)
      if (literal.kind === 'forbidden') {
        process.nextTick(callback, new ForbiddenAddressError(literal.message), null)
        return undefined
      }
    }
    const socket: unknown = connectors[protocol](options, (...[error, connected]) => {
      if (error !== null) return callback(error, null)
      const reached = guard.check(connected.remoteAddress ?? '', protocol)
      if (reached.kind === 'allowed') return callback(null, connected)
      connected.destroy()
      return callback(new ForbiddenAddressError(reached.message), null)
    })
    // undici's connector returns its socket, which its types keep back; with it, a connection that nobody waits for
    // any longer is given up at once.
    return socket as Socket | undefined
  }
}

function guardedLookup(guard: AddressGuard, resolveAll: ResolveAll, protocol: SinkProtocol): LookupFunction {
  return (hostname, options, callback) => {
    resolveAll(hostname, (error, addresses) => {
      if (error !== null) return callback(error, [])
      for (const { address } of addresses) {
        const resolved = guard.check(address, protocol)
        if (resolved.kind === 'forbidden') {
          const message = `${hostname} resolves to a forbidden address: ${resolved.message}`
          return callback(new ForbiddenAddressError(message), [])
        }
      }
      const [first] = addresses
      if (first === undefined) {
        return callback(Object.assign(new Error(`${hostname} has no address`), { code: 'ENODATA', hostname }), [])
      }
      return options.all === true ? callback(null, [...addresses]) : callback(null, first.address, first.family)
    })
  }
}
