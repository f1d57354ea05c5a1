/**
 * A CloudEvent 1.0 as it stood on its topic. The bytes of `value` are never parsed and written again: whoever
 * delivers it in the mode in which it came sends them as they are.
 */
export interface CloudEvent {
  /** The content mode of the record it came in. */
  readonly mode: 'binary' | 'structured'
  /**
   * Every context attribute as text, `datacontenttype` included, `data` excluded. `specversion` is "1.0";
   * `id`, `source` and `type` are there and not empty.
   */
  readonly attributes: ReadonlyMap<string, string>
  /** The record's value: the data itself (binary) or the whole JSON text (structured). */
  readonly value: Buffer | null
}

export type DecodedEvent =
  | { readonly kind: 'event'; readonly event: CloudEvent }
  /** `message` says in one line what is wrong: "attribute `id` is missing". */
  | { readonly kind: 'malformed'; readonly message: string }
