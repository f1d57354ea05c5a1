import { oneLine } from '@barnabas/core'
import { Agent } from 'undici'
import { boundedRequest } from './bounded-request.ts'
import type { RequestBounds } from './bounded-request.ts'

export interface PostOptions extends RequestBounds {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
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
    async post(url, { headers, body, ...bounds }) {
      const parsed = URL.parse(url)
      if (parsed === null) return unanswered('the URL is none')
      const { origin, host, pathname, search } = parsed
      const request = { method: 'POST', origin, path: pathname + search, headers, body } as const
      const answer = await boundedRequest(agent, request, host, bounds)
      if (answer.kind === 'unanswered') return unanswered(answer.problem)
      return { kind: 'answered', status: answer.head.statusCode, body: answer.body, isBodyCut: answer.isBodyCut }
    },
    close: () => agent.destroy(),
  }
}

function unanswered(problem: string): Posted {
  return { kind: 'unanswered', problem: oneLine(problem) }
}
