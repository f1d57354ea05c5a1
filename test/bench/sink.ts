/**
 * The receiver of the bench, a process of its own: answers as `sink-answers.ts` says, with an empty body. Raw TCP,
 * because it shares the machine with what is measured: it costs a fraction of what node:http would. Tells its port
 * when it listens, and to each message, a path, the tally of that.
 */
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { createAnswers } from './sink-answers.ts'

const answers = createAnswers({ monotonicNanos: () => Number(process.hrtime.bigint()), wallMs: () => Date.now() })
const endOfHead = Buffer.from('\r\n\r\n')

const server = createServer((socket) => {
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', requestReader(socket))
})
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
process.on('message', ({ path, withTimes }: { readonly path: string; readonly withTimes: boolean }) => {
  const tally = answers.tally(path)
  process.send?.(withTimes ? tally : { ...tally, times: [] })
})
process.on('disconnect', () => process.exit())

/** Reads requests with a Content-Length, one after the other, whatever chunks they come in. */
function requestReader(socket: Socket): (chunk: Buffer) => void {
  let rest: Buffer | null = null
  let bodyBytes = 0
  let bodyLeft = 0
  let head: string | null = null

  return (chunk) => {
    let bytes = rest === null ? chunk : Buffer.concat([rest, chunk])
    rest = null
    for (;;) {
      if (head === null) {
        const headEnd = bytes.indexOf(endOfHead)
        if (headEnd < 0) {
          rest = bytes.length === 0 ? null : bytes
          return
        }
        head = bytes.toString('latin1', 0, headEnd)
        bodyBytes = Number(/content-length: *(\d+)/i.exec(head)?.[1] ?? 0)
        bodyLeft = bodyBytes
        bytes = bytes.subarray(headEnd + endOfHead.length)
      }
      if (bytes.length < bodyLeft) {
        bodyLeft -= bytes.length
        return
      }
      bytes = bytes.subarray(bodyLeft)
      const path = head.slice('POST '.length, head.indexOf(' ', 'POST '.length))
      const answer = answers.to(path, head, bodyBytes)
      if (answer !== null) socket.write(answer)
      head = null
    }
  }
}
