/** Where blobs of one container are written: the port; `azure-blob-sink.ts` and `folder-blob-sink.ts` are behind it. */
export interface BlobSink {
  /** Makes one try to write a blob of JSON, unless one of this name is there. Never throws. */
  write(path: string, body: Buffer, signal: AbortSignal): Promise<BlobWrite>
}

export type BlobWrite =
  | { readonly kind: 'written' }
  /** One of this name is there, and stays as it is. */
  | { readonly kind: 'there' }
  /** Nothing can be written until somebody makes the container. */
  | { readonly kind: 'no-container' }
  /** It may pass. `message` is one line without secrets. */
  | { readonly kind: 'unavailable'; readonly message: string }
