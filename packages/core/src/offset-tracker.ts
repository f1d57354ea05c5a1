import type { OffsetRange } from './offset-ranges.ts'

/**
 * Which offset of a partition may be committed? Everything below the committed offset must be done, and events
 * complete out of order:
 *
 *     taken:   40  41  43  44  45        next = 46
 *     done:        x       x             committable = 40, done beyond it: 41–42, 44
 *     then 40: x   x       x             committable = 43, done beyond it: 44  (42 held no record: offsets have gaps)
 *
 * What is done beyond the committable offset goes into the commit's metadata; whoever reads the partition after a
 * crash begins with it (`doneBefore`) and takes none of it again.
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
  /** The record to be finished later, or null for one that was done in an earlier life. */
  take(offset: number): OpenRecord | null
  finish(record: OpenRecord): void
  /** Reading has gone on to here without a record (the end of a batch, a compacted gap). */
  skipTo(next: number): void
  /** What is done at and beyond `committable`, in order. At most one range more than there are open records, plus what is left of an earlier life. */
  doneBeyond(): readonly OffsetRange[]
}

/** A record between `take` and `finish`. */
export interface OpenRecord {
  readonly offset: number
}

/** A tracker that starts at `start`, the first offset to be read. `doneBefore` is in order. */
export function createOffsetTracker(start: number, doneBefore: readonly OffsetRange[] = []): OffsetTracker {
  let next = start
  /** Offsets of the records that are open. They are added in order, and a set keeps the order in which it was filled. */
  const open = new Set<number>()
  /** What is left of an earlier life: ranges that reading has not passed. */
  let ahead = doneBefore

  return {
    get next() {
      return next
    },
    get committable() {
      for (const first of open) return first
      return next
    },
    get openCount() {
      return open.size
    },
    take(offset) {
      if (offset < next) throw new RangeError(`offset ${offset} was taken already: the next one is ${next}`)
      next = offset + 1
      while (ahead[0] !== undefined && ahead[0].to <= offset) ahead = ahead.slice(1)
      if (ahead[0] !== undefined && ahead[0].from <= offset) return null
      open.add(offset)
      return { offset }
    },
    finish({ offset }) {
      if (!open.delete(offset)) throw new RangeError(`offset ${offset} was finished already`)
    },
    skipTo(offset) {
      if (offset > next) next = offset
    },
    doneBeyond() {
      const ranges: OffsetRange[] = []
      let cursor = this.committable
      for (const offset of open) {
        if (offset > cursor) ranges.push({ from: cursor, to: offset })
        cursor = offset + 1
      }
      if (next > cursor) ranges.push({ from: cursor, to: next })
      for (const { from, to } of ahead) if (to > next) ranges.push({ from: Math.max(from, next), to })
      return ranges
    },
  }
}
