import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { testBrokers } from './kafka.ts'

/** Leads to the shared broker while it is open: a cluster that is away, and comes back. */
export interface Gate {
  /** Free until it is opened. */
  readonly port: number
  open(): Promise<void>
  /** Ends what goes through it too. */
  close(): void
}

/** A gate that is closed. */
export async function closedGate(): Promise<Gate> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    const [host = '', port] = testBrokers()[0]!.split(':')
    const broker = connect(Number(port), host)
    socket.pipe(broker).pipe(socket)
    for (const each of [socket, broker]) each.on('error', () => each.destroy())
  })
  const listenOn = (port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
    })
  const port = await listenOn(0)
  await new Promise((resolve) => server.close(resolve))
  return {
    port,
    open: async () => void (await listenOn(port)),
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
