/** What the work comes to, or an error with this message when it takes longer; the work itself goes on. */
export async function within<Result>(limitMs: number, work: Promise<Result>, message: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${message} within ${limitMs / 1000} s`)), limitMs)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
