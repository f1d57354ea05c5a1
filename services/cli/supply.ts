/** What `apply` was given beside the files: what Azure has in the path of its request, and not in the body. */
export interface Supplied {
  readonly id?: string | undefined
  readonly topics?: readonly string[] | undefined
}

export interface SuppliedDocument {
  /** The document with what was supplied; whatever is no mapping as it is. */
  readonly value: unknown
  readonly problems: readonly { readonly path: readonly string[]; readonly message: string }[]
}

/** Gives a document the id and the topics of the command line. What it says itself is not overruled: that is refused. */
export function supply(value: unknown, { id, topics }: Supplied): SuppliedDocument {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { value, problems: [] }
  const written = value as Readonly<Record<string, unknown>>
  const problems = []
  // Event Grid's resource id is none of ours.
  const ownId =
    typeof written['id'] === 'string' && written['id'].includes('/') ? undefined : (written['id'] ?? undefined)
  if (id !== undefined && ownId !== undefined && ownId !== id) {
    problems.push({ path: ['id'], message: `id: is not the ${JSON.stringify(id)} of --id; say it once` })
  }
  const ownTopics = written['topics']
  if (topics !== undefined && ownTopics !== undefined && !isSame(ownTopics, topics)) {
    problems.push({ path: ['topics'], message: `topics: are not the ${topics.join(', ')} of --topic; say them once` })
  }
  return {
    value: { ...written, ...(id === undefined ? {} : { id }), ...(topics === undefined ? {} : { topics }) },
    problems,
  }
}

function isSame(written: unknown, topics: readonly string[]): boolean {
  return Array.isArray(written) && written.length === topics.length && topics.every((topic) => written.includes(topic))
}
