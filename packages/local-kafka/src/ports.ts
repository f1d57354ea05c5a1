import { createServer } from 'node:net'
import { LocalKafkaError, systemErrorCode } from './local-kafka-error.ts'

/** How far above the wished port a free one is looked for. */
const portsTried = 100

/** Why 127.0.0.1:port cannot be listened on right now ("EADDRINUSE"), null when it can. */
function whyNotFree(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => resolve(systemErrorCode(error) ?? error.message))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(null)))
  })
}

/** Any free port of 127.0.0.1, as the system gives it. */
export function anyFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}

/** `wished`, or the next free port above it unless it is fixed. 0 means any. Throws `PortTaken`. */
export async function choosePort(
  wished: number,
  isFixed: boolean,
  onProgress: (message: string) => void,
): Promise<number> {
  if (wished === 0) return anyFreePort()
  const obstacle = await whyNotFree(wished)
  if (obstacle === null) return wished
  if (isFixed) {
    const state = obstacle === 'EADDRINUSE' ? 'is taken by another process' : `cannot be listened on (${obstacle})`
    throw new LocalKafkaError(
      'PortTaken',
      `Port ${wished} of 127.0.0.1 ${state}: set BARNABAS_KAFKA_PORT to a free one, or leave it unset to get the ` +
        'next free port from 9092 on.',
    )
  }
  for (let port = wished + 1; port <= Math.min(wished + portsTried, 65_535); port++) {
    if ((await whyNotFree(port)) !== null) continue
    onProgress(`port ${wished} is taken, using ${port}`)
    return port
  }
  throw new LocalKafkaError(
    'PortTaken',
    `Ports ${wished} to ${wished + portsTried} of 127.0.0.1 are all taken: set BARNABAS_KAFKA_PORT to a free one.`,
  )
}
