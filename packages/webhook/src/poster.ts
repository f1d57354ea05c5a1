import { oneLine } from '@barnabas/core'
import { Agent } from 'undici'
import { boundedBody } from './bounded-body.ts'
import { transportFailure } from './transport-error.ts'

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** From the beginning to the end of the answer's body; waiting for a connection included. */
  readonly timeoutMs: number
  /** Ends it at once. */
  readonly signal: AbortSignal
}

export type Posted =
  /** The body is at most 64 KiB of UTF-8; `isBodyCut` says that there was more. */
  | { readonly kind: 'answered'; readonly status: number; readonly body: string; readonly isBodyCut: boolean }
  /** `problem` is one line without the URL's path and query. */
  | { readonly kind: 'unanswered'; readonly problem: string }

/** Requests to places that the operator's own configuration names, which no address guard stands before. */
export interface Poster {
  /**
   * Makes exactly one `POST` on a connection that is kept for the next one: no redirects, no retries. Never rejects for
   * what a receiver, the network or the URL does.
   */
  post(url: string, options: PostOptions): Promise<Posted>
  close(): Promise<void>
}

/** To one origin at a time. */
const connectionsMax = 16

export function createPoster(): Poster {
  const agent = new Agent({ connections: connectionsMax, headersTimeout: 0, bodyTimeout: 0, allowH2: false })

  return {
    async post(url, { headers, body, timeoutMs, signal }) {
      const parsed = URL.parse(url)
      if (parsed === null) return unanswered('the URL is none')
      // A timer of its own: the signal of `AbortSignal.timeout` is kept by nobody and may be collected.
      const deadline = new AbortController()
      const timer = setTimeout(() => deadline.abort(), timeoutMs)
      try {
        const answer = await agent.request({
          method: 'POST',
          origin: parsed.origin,
          path: parsed.pathname + parsed.search,
          headers,
          body,
          signal: AbortSignal.any([signal, deadline.signal]),
        })
        return { kind: 'answered', status: answer.statusCode, ...(await boundedBody(answer)) }
      } catch (error) {
        if (signal.aborted) return unanswered('cut off by our own stop')
        if (deadline.signal.aborted) return unanswered(`no complete answer within ${timeoutMs / 1_000} s`)
        return unanswered(transportFailure(error, parsed.host).error)
      } finally {
        clearTimeout(timer)
      }
    },
    close: () => agent.destroy(),
  }
}

function unanswered(problem: string): Posted {
  return { kind: 'unanswered', problem: oneLine(problem) }
}
