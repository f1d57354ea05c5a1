import { createServer } from 'node:net'
import { LocalKafkaError } from './local-kafka-error.ts'

/** How far above the wished port a free one is looked for. */
const portsTried = 100

/** Whether 127.0.0.1:port can be listened on right now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve(true)))
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
  if (await isPortFree(wished)) return wished
  if (isFixed) {
    throw new LocalKafkaError(
      'PortTaken',
      `Port ${wished} of 127.0.0.1 is taken by another process: end it, or set BARNABAS_KAFKA_PORT to a free one ` +
        '(unset: the next free port from 9092 on).',
    )
  }
  for (let port = wished + 1; port <= Math.min(wished + portsTried, 65_535); port++) {
    if (!(await isPortFree(port))) continue
    onProgress(`port ${wished} is taken, using ${port}`)
    return port
  }
  throw new LocalKafkaError(
    'PortTaken',
    `Ports ${wished} to ${wished + portsTried} of 127.0.0.1 are all taken: set BARNABAS_KAFKA_PORT to a free one.`,
  )
}
