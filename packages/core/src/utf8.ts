const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text that the bytes spell, a byte order mark included; undefined when they are not UTF-8. */
export function utf8Text(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8')
  // U+FFFD is what `toString` writes for a bad byte, but also a character that may really stand there.
  if (!text.includes('\uFFFD')) return text
  try {
    return strictDecoder.decode(bytes)
  } catch {
    return undefined
  }
}
