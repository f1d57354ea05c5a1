import type { ISocketFactory } from 'kafkajs'
import { openSocket } from './kafkajs-internals.ts'

/**
 * The client's own sockets. While no broker answers it disconnects the same dead connection again and again, and each
 * time Node would keep one more listener for a `connect` that never comes, and warn of it on standard error.
 */
export const sockets: ISocketFactory = (options) => {
  const socket = openSocket(options)
  const unref = socket.unref.bind(socket)
  socket.unref = () => (socket.destroyed ? socket : unref())
  return socket
}
