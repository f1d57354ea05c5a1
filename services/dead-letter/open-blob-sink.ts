import { fileURLToPath } from 'node:url'
import type { BlobTarget } from '@barnabas/core'
import type { BlobAccounts } from '@barnabas/runtime'
import { createAzureBlobSink } from './azure-blob-sink.ts'
import type { BlobSink } from './blob-sink.ts'
import { createFolderBlobSink } from './folder-blob-sink.ts'

/** The sink of a container, by what the environment says of its account. */
export async function openBlobSink(target: BlobTarget, accounts: BlobAccounts): Promise<BlobSink> {
  const account = accounts[target.account] ?? { endpoint: null, key: null }
  if (account.endpoint?.startsWith('file:') === true) {
    return createFolderBlobSink(fileURLToPath(account.endpoint), target.container)
  }
  return createAzureBlobSink(target, account)
}
