import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { AnswerTo } from './fate.ts'
import type { Attempt } from './ledger.ts'

/** Takes requests as a webhook and writes each of them down. */
export interface ChaosReceiver {
  /** On 127.0.0.1. */
  readonly port: number
  readonly attempts: readonly Attempt[]
  /** Cuts every connection and refuses new ones. */
  leave(): Promise<void>
  comeBack(): Promise<void>
}

/** Without a status nothing is written until the sender gives up. */
export async function startReceiver(answerTo: AnswerTo): Promise<ChaosReceiver> {
  const attempts: Attempt[] = []
  const lastOf = new WeakMap<Socket, readonly number[]>()
  const server = createServer(take)
  server.keepAliveTimeout = 60_000
  server.on('connection', (socket) => {
    accepted += 1
    waitingSince.set(socket, nobodyWaitedAt)
    socket.on('close', () => {
      const closedAt = Date.now()
      for (const last of lastOf.get(socket) ?? []) attempts[last] = { ...attempts[last]!, closedAt }
    })
  })
  // On a busy machine the receiver looks late, and a request waits for it: up to two turns of the event loop until it is
  // read. The last three turns, the oldest first.
  let looks = [Date.now(), Date.now(), Date.now()] as const
  // The first request of a connection waits with it, and of those that wait one is accepted in a turn (libuv 1.45).
  let accepted = 0
  let acceptedBefore = 0
  let nobodyWaitedAt = Date.now()
  const waitingSince = new WeakMap<Socket, number>()
  setInterval(() => {
    if (accepted === acceptedBefore) nobodyWaitedAt = looks[2]
    acceptedBefore = accepted
    looks = [looks[1], looks[2], Date.now()]
  }, 10).unref()

  function take(request: IncomingMessage, response: ServerResponse): void {
    const number = Number(request.headers['barnabas-attempt'])
    const at = Date.now()
    const notBefore = Math.min(looks[0], waitingSince.get(request.socket) ?? Infinity)
    waitingSince.delete(request.socket)

    /** Writes the attempt of each event down, and gives what writes their answer down. */
    function noted(ids: readonly string[]): () => void {
      const status = answerTo(ids, number)
      const together = ids.length
      const indexes = ids.map(
        (id) =>
          attempts.push({ id, number, together, at, notBefore, answeredAt: null, closedAt: null, status: null }) - 1,
      )
      lastOf.set(request.socket, indexes)
      return () => {
        if (status === null) return
        const answeredAt = Date.now()
        for (const index of indexes) attempts[index] = { ...attempts[index]!, answeredAt, status }
        response.writeHead(status, { 'content-length': '0' }).end()
      }
    }

    const id = request.headers['ce-id']
    if (id === undefined) {
      // Who is in it stands in the body. What was cut off before its end reached nobody.
      request.toArray().then(
        (chunks) => noted(idsIn(Buffer.concat(chunks)))(),
        () => undefined,
      )
      return
    }
    const answer = noted([String(id)])
    request.resume().on('end', answer)
  }

  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve())
    })
  await listen(0)
  const { port } = server.address() as AddressInfo

  return {
    port,
    attempts,
    async leave() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
    comeBack: () => listen(port),
  }
}

function idsIn(body: Buffer): readonly string[] {
  return (JSON.parse(body.toString()) as readonly { readonly id: string }[]).map(({ id }) => id)
}
