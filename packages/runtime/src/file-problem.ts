const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EACCES: 'may not be read',
  EISDIR: 'is a directory; name a file',
}

/** Why a file cannot be read, in one sentence that names it. */
export function fileProblem(path: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return `${path} ${reasons[code] ?? `cannot be read: ${error instanceof Error ? error.message : String(error)}`}`
}
