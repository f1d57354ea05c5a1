/**
 * Which offset of a partition may be committed? Everything below the committed offset must be done, and events
 * complete out of order:
 *
 *     taken:   40  41  43  44  45        next = 46
 *     done:        x       x             committable = 40
 *     then 40: x   x       x             committable = 43   (42 held no record: offsets may have gaps)
 *
 * `take` is called in the order of offsets, `finish` in any order, each record once.
 */
export interface OffsetTracker {
  /** Everything below it was taken or skipped: where reading goes on. */
  readonly next: number
  /** The offset that may be committed: that of the first open record, or `next` when none is open. */
  readonly committable: number
  /** Records taken and not finished. */
  readonly openCount: number
  take(offset: number): OpenRecord
  finish(record: OpenRecord): void
  /** Reading has gone on to here without a record (the end of a batch, a compacted gap). */
  skipTo(next: number): void
}

/** A record between `take` and `finish`. */
export interface OpenRecord {
  readonly offset: number
}

/** A tracker that starts at `next`, the first offset to be read. */
export function createOffsetTracker(start: number): OffsetTracker {
  let next = start
  let openCount = 0
  // Taken records in order; those before `head` are done and forgotten.
  let taken: { offset: number; done: boolean }[] = []
  let head = 0

  return {
    get next() {
      return next
    },
    get committable() {
      return taken[head]?.offset ?? next
    },
    get openCount() {
      return openCount
    },
    take(offset) {
      if (offset < next) throw new RangeError(`offset ${offset} was taken already: the next one is ${next}`)
      const record = { offset, done: false }
      taken.push(record)
      openCount += 1
      next = offset + 1
      return record
    },
    finish(record) {
      const own = record as { offset: number; done: boolean }
      if (own.done) throw new RangeError(`offset ${own.offset} was finished already`)
      own.done = true
      openCount -= 1
      while (taken[head]?.done) head += 1
      if (head > 1024 && head * 2 > taken.length) {
        taken = taken.slice(head)
        head = 0
      }
    },
    skipTo(offset) {
      if (offset > next) next = offset
    },
  }
}
