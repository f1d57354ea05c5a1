/** The type and subtype of a content type, in lower case and without parameters. */
export function mediaTypeEssence(contentType: string): string {
  return /^\s*([^;,\s]*)/.exec(contentType)![1]!.toLowerCase()
}

/** Whether data of this type is JSON: the subtype is "json" or ends with "+json" (CloudEvents JSON format §3.1.1). */
export function isJsonMediaType(contentType: string): boolean {
  return /^[^/]+\/([^/]+\+)?json$/.test(mediaTypeEssence(contentType))
}

export function isTextMediaType(contentType: string): boolean {
  return mediaTypeEssence(contentType).startsWith('text/')
}

/** Whether bytes of this type may be read as UTF-8: it names no `charset`, or one that UTF-8 covers. */
export function isUtf8MediaType(contentType: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(contentType)?.[1]
  return charset === undefined || /^(utf-?8|us-ascii)$/i.test(charset)
}
