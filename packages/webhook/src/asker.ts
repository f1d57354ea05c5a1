import { oneLine, problemOfSecrets } from '@barnabas/core'
import type { DeliveryAttribute, FindSecret, HandshakeReply, PlainRequest } from '@barnabas/core'
import { Client } from 'undici'
import type { Dispatcher } from 'undici'
import type { AddressGuard } from './address-guard.ts'
import { boundedRequest } from './bounded-request.ts'
import { guardedConnector, type ResolveAll } from './connector.ts'
import { headersWithoutEvent } from './own-headers.ts'

export interface AskOptions {
  readonly url: string
  /** Of the subscription: those that come from no event are sent too, for a receiver may ask everybody for a key. */
  readonly headers: readonly DeliveryAttribute[]
  /** From the beginning to the end of the answer's body. */
  readonly timeoutMs: number
  /** Ends it at once. */
  readonly signal: AbortSignal
}

/** Requests that deliver no event: handshakes, and the word that a subscription is gone. */
export interface Asker {
  /**
   * Makes exactly one request on a connection of its own, behind the same guard as every attempt: no redirects, no
   * retries. Never rejects for what a receiver, the network or the URL does.
   */
  ask(request: PlainRequest, options: AskOptions): Promise<HandshakeReply>
}

export function createAsker({
  addressGuard,
  resolveAll,
  findSecret,
}: {
  readonly addressGuard: AddressGuard
  /** How names are resolved; the system's resolver by default. */
  readonly resolveAll?: ResolveAll
  /** What `{ secret: NAME }` means. */
  readonly findSecret: FindSecret
}): Asker {
  const connect = guardedConnector(addressGuard, resolveAll)

  return {
    async ask(request, { url, headers, timeoutMs, signal }) {
      const missing = problemOfSecrets(headers, findSecret)
      if (missing !== null) return unanswered(missing)
      const check = addressGuard.checkSink(url)
      if (check.kind === 'forbidden') return unanswered(check.message)
      const { origin, host, pathname, search } = new URL(url)
      const client = new Client(origin, { connect, allowH2: false, headersTimeout: 0, bodyTimeout: 0 })
      const whole = {
        ...request,
        headers: { ...request.headers, ...headersWithoutEvent(headers, findSecret) },
        path: pathname + search,
      }
      const answer = await boundedRequest(client, whole, host, { timeoutMs, signal })
      await client.destroy()
      if (answer.kind === 'unanswered') return unanswered(answer.problem)
      return { ...headOf(answer.head), body: answer.body, isBodyCut: answer.isBodyCut }
    },
  }
}

function headOf({ statusCode, headers }: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>) {
  return {
    kind: 'answered',
    status: statusCode,
    allowedOrigin: lineOf(headers['webhook-allowed-origin']),
    allowedRate: lineOf(headers['webhook-allowed-rate']),
  } as const
}

/** A header that stands twice says two things, and agrees to nothing. */
function lineOf(value: string | readonly string[] | undefined): string | null {
  return value === undefined ? null : oneLine(typeof value === 'string' ? value : value.join(', '))
}

function unanswered(problem: string): HandshakeReply {
  return { kind: 'unanswered', problem: oneLine(problem) }
}
