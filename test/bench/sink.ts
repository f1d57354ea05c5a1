/**
 * The receiver of the bench, a process of its own: answers every request as its path says (`/200`, `/503`) with an
 * empty body and counts it. Raw TCP, because it shares the machine with what is measured: it costs a fraction of what
 * node:http would. Tells its port when it listens, and its count to every message.
 */
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

const answers = new Map(
  ['200 OK', '503 Service Unavailable'].map((status) => [
    status.slice(0, 3),
    Buffer.from(`HTTP/1.1 ${status}\r\ncontent-length: 0\r\n\r\n`),
  ]),
)
const endOfHead = Buffer.from('\r\n\r\n')
let count = 0

const server = createServer((socket) => {
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', requestReader(socket))
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('message', () => process.send?.(count))
process.on('disconnect', () => process.exit())

/** Reads requests with a Content-Length, one after the other, whatever chunks they come in. */
function requestReader(socket: Socket): (chunk: Buffer) => void {
  let rest: Buffer | null = null
  let bodyLeft = 0
  let answer: Buffer | undefined

  return (chunk) => {
    let bytes = rest === null ? chunk : Buffer.concat([rest, chunk])
    rest = null
    for (;;) {
      if (answer === undefined) {
        const headEnd = bytes.indexOf(endOfHead)
        if (headEnd < 0) {
          rest = bytes.length === 0 ? null : bytes
          return
        }
        const head = bytes.toString('latin1', 0, headEnd)
        answer = answers.get(head.slice('POST /'.length, 'POST /200'.length))
        if (answer === undefined) throw new Error(`no answer to ${head}`)
        bodyLeft = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
        bytes = bytes.subarray(headEnd + endOfHead.length)
      }
      if (bytes.length < bodyLeft) {
        bodyLeft -= bytes.length
        return
      }
      bytes = bytes.subarray(bodyLeft)
      count += 1
      socket.write(answer)
      answer = undefined
    }
  }
}
