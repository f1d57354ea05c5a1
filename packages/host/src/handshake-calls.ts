import { createHash, timingSafeEqual } from 'node:crypto'
import { parseAllowedRate } from '@barnabas/core'
import type { Command, Handshake, StatusRecord } from '@barnabas/core'
import type { ProduceResult } from '@barnabas/kafka'
import type { HttpAnswer, HttpRequest } from '@barnabas/runtime'

export interface HandshakeCallsOptions {
  readonly statuses: {
    get(id: string): StatusRecord | null
    /** Resolves when the statuses were read to their present end. */
    caughtUp(): Promise<void>
  }
  readonly write: (command: Command) => Promise<ProduceResult>
  /** Calls the listener for each change of a status, until the returned function is called. */
  readonly onStatus: (listener: (id: string) => void) => () => void
  readonly now: () => number
}

/** The path may stand behind a proxy that keeps the first part of `BARNABAS_PUBLIC_URL`, or takes it away. */
const callPath = /\/handshakes\/([a-z0-9][a-z0-9-]{0,62})\/([\w-]{43})$/
const caughtUpMs = 5_000
const heardMs = 10_000

/**
 * Answers the validation and callback URLs of handshakes (spec event-grid.md 2.2.3, 2.3), in any service. The word is
 * passed on through `barnabas.commands` to whoever leads the subscription's group. Null for any other path.
 *
 * The token of a URL is 256 random bits, and no state keeps it once it was used: what is compared, in constant time, is
 * its hash. A wrong token and an unknown subscription are answered alike.
 */
export function createHandshakeCalls(
  options: HandshakeCallsOptions,
): (request: HttpRequest) => Promise<HttpAnswer | null> {
  const { statuses, now } = options

  return async function answer({ method, path, headers, remoteAddress }) {
    const [, id = '', token = ''] = callPath.exec(path) ?? []
    if (id === '') return null
    // HEAD must change nothing, and tools that look at links use it.
    if (method !== 'GET' && method !== 'POST') return text(405, 'Allowed are GET and POST.')
    const rate = parseAllowedRate(oneOf(headers['webhook-allowed-rate']))
    if (rate.kind === 'bad') return text(400, `${rate.problem}.`)

    const validation = createHash('sha256').update(token).digest('hex')
    const handshake = find(id, validation) ?? (await findAfterReading(id, validation))
    if (handshake === 'unknown') return text(503, 'The statuses cannot be read now; call again later.')
    if (handshake === null) return text(404, 'No handshake has this URL.')
    const over = overText(handshake, now())
    if (over !== null) return text(410, over)

    const written = await options.write({
      subscription: id,
      command: 'callback',
      validation,
      allowedRate: rate.kind === 'rate' ? rate.perMinute : null,
      by: remoteAddress,
      at: new Date(now()).toISOString(),
    })
    if (written.kind !== 'acknowledged') return text(503, 'The word cannot be passed on now; call again later.')
    const became = await heard(id, validation)
    if (became === 'succeeded') return text(200, `The handshake of ${id} has succeeded.`)
    return text(202, `The word was passed on; \`barnabas get ${id}\` shows what becomes of it.`)
  }

  function find(id: string, validation: string): Handshake | null {
    const handshake = statuses.get(id)?.handshake ?? null
    return handshake !== null && isSame(handshake.validation, validation) ? handshake : null
  }

  /** What the dispatcher wrote a moment ago may not have been read here. */
  async function findAfterReading(id: string, validation: string): Promise<Handshake | 'unknown' | null> {
    const isRead = await within(
      caughtUpMs,
      statuses.caughtUp().then(
        () => true,
        () => false,
      ),
    )
    return isRead === true ? find(id, validation) : 'unknown'
  }

  /** What the handshake has become, once it is over. */
  async function heard(id: string, validation: string): Promise<Handshake['kind'] | null> {
    const over = Promise.withResolvers<Handshake['kind'] | null>()
    const look = (changed: string) => {
      const kind = changed === id ? find(id, validation)?.kind : undefined
      if (kind === 'succeeded' || kind === 'failed') over.resolve(kind)
    }
    const forget = options.onStatus(look)
    look(id)
    const kind = await within(heardMs, over.promise)
    forget()
    return kind
  }
}

function overText(handshake: Handshake, now: number): string | null {
  if (handshake.kind === 'succeeded') return 'This URL was called before; it serves once.'
  const isLate = handshake.kind === 'failed' || now >= Date.parse(handshake.until)
  return isLate ? 'This URL was called too late; the handshake is over.' : null
}

function isSame(one: string | null, other: string): boolean {
  return one !== null && one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

function oneOf(header: string | readonly string[] | undefined): string | null {
  if (header === undefined) return null
  return typeof header === 'string' ? header : header.join(', ')
}

/** Null when it takes longer. */
async function within<Value>(ms: number, promise: Promise<Value>): Promise<Value | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), ms)))
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}

const text = (status: number, sentence: string): HttpAnswer => ({
  status,
  contentType: 'text/plain; charset=utf-8',
  body: `${sentence}\n`,
})
