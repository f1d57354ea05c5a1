import type { Dispatcher } from 'undici'
import { transportFailure } from './transport-error.ts'

/** No answer that is read as a whole is longer; what is beyond is not read, and ends the connection. */
const bodyBytesMax = 65_536

export interface RequestBounds {
  /** From the beginning to the end of the answer's body; waiting for a connection included. */
  readonly timeoutMs: number
  /** Ends it at once. */
  readonly signal: AbortSignal
}

export type BoundedAnswer =
  /** The body is at most 64 KiB of UTF-8; `isBodyCut` says that there was more. */
  | {
      readonly kind: 'answered'
      readonly head: Pick<Dispatcher.ResponseData, 'statusCode' | 'headers'>
      readonly body: string
      readonly isBodyCut: boolean
    }
  | { readonly kind: 'unanswered'; readonly problem: string }

/** Makes one request and reads its answer as a whole. `host` is named in a problem. Never rejects. */
export async function boundedRequest(
  dispatcher: Dispatcher,
  request: Dispatcher.RequestOptions,
  host: string,
  { timeoutMs, signal }: RequestBounds,
): Promise<BoundedAnswer> {
  // A timer of its own: the signal of `AbortSignal.timeout` is kept by nobody and may be collected.
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(), timeoutMs)
  try {
    const head = await dispatcher.request({ ...request, signal: AbortSignal.any([signal, deadline.signal]) })
    return { kind: 'answered', head, ...(await boundedBody(head)) }
  } catch (error) {
    if (signal.aborted) return { kind: 'unanswered', problem: 'cut off by our own stop' }
    if (deadline.signal.aborted) {
      return { kind: 'unanswered', problem: `no complete answer within ${timeoutMs / 1_000} s` }
    }
    return { kind: 'unanswered', problem: transportFailure(error, host).error }
  } finally {
    clearTimeout(timer)
  }
}

async function boundedBody({ body }: Pick<Dispatcher.ResponseData, 'body'>) {
  const chunks: Buffer[] = []
  let bytes = 0
  // Leaving the loop destroys the body, and what was not read of it with it.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bodyBytesMax) break
  }
  return { body: Buffer.concat(chunks).subarray(0, bodyBytesMax).toString('utf8'), isBodyCut: bytes > bodyBytesMax }
}
