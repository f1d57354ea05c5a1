import type { BlobTarget } from '@barnabas/core'
import type { BlobAccount } from '@barnabas/runtime'
import type { BlobSink, BlobWrite } from './blob-sink.ts'

const writeTimeoutMs = 30_000

/**
 * A container of Azure Blob Storage, or of what speaks its language. The account's key is used, or else Azure's default
 * credential chain; each library is loaded where it is needed.
 */
export async function createAzureBlobSink(
  { account, container }: BlobTarget,
  { endpoint, key }: BlobAccount,
  timeoutMs = writeTimeoutMs,
): Promise<BlobSink> {
  const { BlobServiceClient, StorageSharedKeyCredential } = await import('@azure/storage-blob')
  const credential =
    key === null
      ? new (await import('@azure/identity')).DefaultAzureCredential()
      : new StorageSharedKeyCredential(account, key)
  // One try: whoever writes decides about the next one.
  const service = new BlobServiceClient(endpoint ?? `https://${account}.blob.core.windows.net`, credential, {
    retryOptions: { maxTries: 1 },
  })
  const containerClient = service.getContainerClient(container)

  return {
    async write(path, body, signal) {
      const deadline = AbortSignal.timeout(timeoutMs)
      try {
        await containerClient.getBlockBlobClient(path).upload(body, body.length, {
          conditions: { ifNoneMatch: '*' },
          blobHTTPHeaders: { blobContentType: 'application/json' },
          abortSignal: AbortSignal.any([signal, deadline]),
        })
        return { kind: 'written' }
      } catch (error) {
        // The library says no more than that something was aborted.
        if (deadline.aborted) return { kind: 'unavailable', message: `no answer within ${timeoutMs / 1_000} s` }
        return resultOf(error, key === null ? account : null)
      }
    },
  }
}

interface AzureError {
  readonly name?: string
  readonly message?: string
  readonly code?: string
  readonly statusCode?: number
}

/** `keyless` is the account that nobody has given us the key of. */
function resultOf(error: unknown, keyless: string | null): BlobWrite {
  const { name = '', message = String(error), code = '', statusCode } = error as AzureError
  if (code === 'BlobAlreadyExists' || statusCode === 412) return { kind: 'there' }
  if (code === 'ContainerNotFound') return { kind: 'no-container' }
  const [firstLine = ''] = message.split(/[\r\n]/)
  const status = statusCode === undefined ? '' : `${statusCode} `
  const text = `${status}${code || name}: ${firstLine}`.slice(0, messageCharactersMax)
  if (keyless === null || !/Credential|Authentication/.test(name)) return { kind: 'unavailable', message: text }
  const mend = `BARNABAS_BLOB_${keyless.toUpperCase()}_KEY is not set, and Azure's default credentials are none`
  return { kind: 'unavailable', message: `${text} (${mend})` }
}

const messageCharactersMax = 300
