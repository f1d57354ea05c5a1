import type { Dispatcher } from 'undici'

/** No answer that is read as a whole is longer; what is beyond is not read, and ends the connection. */
const bodyBytesMax = 65_536

export async function boundedBody({ body }: Pick<Dispatcher.ResponseData, 'body'>) {
  const chunks: Buffer[] = []
  let bytes = 0
  // Leaving the loop destroys the body, and what was not read of it with it.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > bodyBytesMax) break
  }
  return { body: Buffer.concat(chunks).subarray(0, bodyBytesMax).toString('utf8'), isBodyCut: bytes > bodyBytesMax }
}
