import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob'
import { runProcess } from './processes.ts'
import type { RunningProcess } from './processes.ts'
import { freePort } from './start.ts'

/** A real Blob server on a port of 127.0.0.1 that it keeps when it goes and comes again. */
export interface Azurite {
  readonly account: string
  readonly key: string
  readonly port: number
  /** As `BARNABAS_BLOB_<ACCOUNT>_ENDPOINT` takes it. */
  readonly endpoint: string
  start(): Promise<void>
  /** SIGTERM: it writes down what it has. */
  stop(): Promise<void>
  makeContainer(name: string): Promise<void>
  /** What is in a container, read with Azure's own client. */
  blobs(container: string): Promise<readonly ReadBlob[]>
  /** Its end, and that of its data. */
  remove(): Promise<void>
}

export interface ReadBlob {
  readonly name: string
  readonly contentType: string | undefined
  readonly text: string
}

export async function startAzurite(): Promise<Azurite> {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-azurite-'))
  const port = await freePort()
  const account = 'blobtests'
  const key = randomBytes(64).toString('base64')
  const endpoint = `http://127.0.0.1:${port}/${account}`
  const client = new BlobServiceClient(endpoint, new StorageSharedKeyCredential(account, key))
  let running: RunningProcess | undefined

  const azurite: Azurite = {
    account,
    key,
    port,
    endpoint,
    async start() {
      const options = ['--blobHost', '127.0.0.1', '--blobPort', String(port), '--location', folder]
      const env = { AZURITE_ACCOUNTS: `${account}:${key}` }
      running = runProcess('test/node_modules/azurite/dist/src/blob/main.js', env, [
        ...options,
        '--skipApiVersionCheck',
        '--disableTelemetry',
      ])
      await running.line(/successfully listens/)
    },
    async stop() {
      await running?.kill('SIGTERM')
    },
    async makeContainer(name) {
      await client.getContainerClient(name).create()
    },
    async blobs(container) {
      const containerClient = client.getContainerClient(container)
      const read: ReadBlob[] = []
      for await (const { name, properties } of containerClient.listBlobsFlat()) {
        const text = (await containerClient.getBlobClient(name).downloadToBuffer()).toString()
        read.push({ name, contentType: properties.contentType, text })
      }
      return read
    },
    async remove() {
      await azurite.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
  await azurite.start()
  return azurite
}
