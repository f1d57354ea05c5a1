import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Stands before an HTTP server and can keep its answers back: what was asked for is done, and who asked does not know. */
export interface HoldingProxy {
  readonly port: number
  /** Method and status of each answer of the server, held or not. */
  readonly answers: readonly string[]
  /** From now on PUT requests reach the server, but their answers reach nobody. Resolves when the first one is held. */
  hold(): Promise<void>
  /** Answers pass again; the held ones never do. */
  pass(): void
  close(): Promise<void>
}

export async function startHoldingProxy(targetPort: number): Promise<HoldingProxy> {
  const answers: string[] = []
  let held: (() => void) | null = null
  const server = createServer((incoming, outgoing) => {
    const { method = '', url, headers } = incoming
    const forwarded = request({ host: '127.0.0.1', port: targetPort, method, path: url, headers }, (answer) => {
      answers.push(`${method} ${answer.statusCode}`)
      if (held !== null && method === 'PUT') {
        answer.resume()
        return held()
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    forwarded.on('error', () => outgoing.destroy())
    incoming.pipe(forwarded)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    answers,
    hold: () => new Promise((resolve) => (held = resolve)),
    pass: () => void (held = null),
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
