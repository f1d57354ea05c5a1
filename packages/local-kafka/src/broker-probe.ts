import { connect } from 'node:net'

/** What a broker says about itself. */
export interface BrokerAnswer {
  readonly clusterId: string | null
  readonly brokerCount: number
}

/**
 * Asks 127.0.0.1:port for the cluster's metadata without topics (Metadata, API key 3, version 4: Kafka protocol
 * guide). Null when nothing answers within `timeoutMs` or what answers is no broker. By hand, because this package
 * comes before any Kafka client; a broker answers it only after it is registered and not fenced.
 */
export function probeBroker(port: number, timeoutMs: number): Promise<BrokerAnswer | null> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port })
    let received = Buffer.alloc(0)
    const finish = (answer: BrokerAnswer | null) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(answer)
    }
    const timer = setTimeout(() => finish(null), timeoutMs)
    socket.on('connect', () => socket.write(metadataRequest()))
    socket.on('error', () => finish(null))
    socket.on('close', () => finish(null))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      if (received.length < 4) return
      const bytes = received.readInt32BE(0)
      // Whatever speaks another protocol gives an absurd length.
      if (bytes < 8 || bytes > 1 << 20) finish(null)
      else if (received.length >= 4 + bytes) finish(parseMetadataResponse(received.subarray(4, 4 + bytes)))
    })
  })
}

const correlationId = 0x6261726e

function metadataRequest(): Buffer {
  const clientId = Buffer.from('barnabas-probe')
  const head = Buffer.alloc(10)
  head.writeInt16BE(3, 0)
  head.writeInt16BE(4, 2)
  head.writeInt32BE(correlationId, 4)
  head.writeInt16BE(clientId.length, 8)
  // No topics (an empty array, not null, which would mean all), and none is to be created.
  const body = Buffer.concat([head, clientId, Buffer.from([0, 0, 0, 0, 0])])
  const size = Buffer.alloc(4)
  size.writeInt32BE(body.length)
  return Buffer.concat([size, body])
}

/** `bytes` is the response without its length. Null when it is no answer to `metadataRequest`. */
export function parseMetadataResponse(bytes: Buffer): BrokerAnswer | null {
  let at = 0
  const int32 = () => bytes.readInt32BE((at += 4) - 4)
  const text = () => {
    const length = bytes.readInt16BE((at += 2) - 2)
    return length < 0 ? null : bytes.toString('utf8', at, (at += length))
  }
  try {
    if (int32() !== correlationId) return null
    int32() // throttle time
    const brokerCount = int32()
    for (let index = 0; index < brokerCount; index++) {
      int32() // node
      text() // host
      int32() // port
      text() // rack
    }
    return { clusterId: text(), brokerCount }
  } catch {
    return null
  }
}
