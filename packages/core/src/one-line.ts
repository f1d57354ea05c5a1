const bytesMax = 1_024

/**
 * Text for `barnabas-last-error` (interface, "Headers on retry records and dead letters"): one line of at most
 * 1 KiB of UTF-8, cut at a character. Control characters, which a receiver may have put there, become spaces.
 */
export function oneLine(text: string): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029]+/gu, ' ').trim()
  if (Buffer.byteLength(line) <= bytesMax) return line
  // Every character is at least a byte; what is cut through at the end is left out.
  const { read } = new TextEncoder().encodeInto(line, new Uint8Array(bytesMax))
  return line.slice(0, read)
}
