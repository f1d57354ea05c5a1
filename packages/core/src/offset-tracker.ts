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
  /** The same by its offset, whether it is open here or has not been taken yet; for what is kept outside (`barnabas.progress`). */
  finishAt(offset: number): void
  /** One that is open at this offset is under way no more. */
  stop(offset: number): void
  /**
   * A tracker that goes on from here with everything that is open and not under way to be taken again, from the first of
   * it. This one is not to be used any more.
   */
  rewound(): OffsetTracker
  /** Whether an earlier life has done it: `take` would give null for it. */
  wasDone(offset: number): boolean
  /** Reading has gone on to here without a record (the end of a batch, a compacted gap). */
  skipTo(next: number): void
  /**
   * How many of the next records, given by their offsets in order, may be taken so that `doneBeyond` can be written in so
   * many characters (`encodeRanges`) whatever the order in which they are finished.
   */
  takeable(offsets: readonly number[], charactersMax: number): number
  /** What is done at and beyond `committable`, in order. At most one range more than there are open records, plus what is left of an earlier life. */
  doneBeyond(): readonly OffsetRange[]
}

/** A record between `take` and `finish`. */
export interface OpenRecord {
  readonly offset: number
  /** Only the tracker that gave it sets it. */
  isDone: boolean
  /** Set by whoever works at it: it stays open when the others are handed over again. */
  isUnderWay?: boolean
  /** Only the tracker sets it: it is to be taken again, and this one is nobody's any more. */
  isGivenBack?: boolean
}

/**
 * What an open record needs at most in run lengths, with the done ones that follow it: "1.7." when there are any. One of
 * several open ones in a row needs two characters, because of those half may finish first, every second one.
 */
function charactersOfOpen(doneBehind: number): number {
  return doneBehind > 0 ? 3 + charactersOf(doneBehind) : 2
}

/** The same for the last open record and the ranges that are done behind it. */
function charactersBehind(offset: number, ranges: readonly OffsetRange[]): number {
  let cursor = offset + 1
  let characters = 0
  for (const [index, { from, to }] of ranges.entries()) {
    if (index === 0) characters += charactersOfOpen(from <= cursor ? to - cursor : 0)
    if (index > 0 || from > cursor) characters += charactersOf(from - cursor) + charactersOf(to - from) + 2
    cursor = to
  }
  return ranges.length === 0 ? charactersOfOpen(0) : characters
}

function charactersOf(run: number): number {
  return run.toString(36).length
}

/** Fewer done ones than this are not worth it. */
const sweptAtLeast = 256

/** A tracker that starts at `start`, the first offset to be read. `doneBefore` is in order. */
export function createOffsetTracker(start: number, doneBefore: readonly OffsetRange[] = []): OffsetTracker {
  return trackerOf(start, doneBefore, [])
}

/** `underWay`: taken from an earlier tracker, in order, and not finished; as `ahead` for `take`, and open for commits. */
function trackerOf(start: number, doneBefore: readonly OffsetRange[], underWay: readonly OpenRecord[]): OffsetTracker {
  let next = start
  /**
   * What was taken, in order; from time to time those that are done are swept out. A `Set` of what is open would be simpler,
   * and would cost the garbage collector much: see `PlacedList`.
   */
  const taken: OpenRecord[] = []
  /** In `taken`: everything before it is done. */
  let first = 0
  let openCount = underWay.length
  /** What is left of an earlier life: ranges that reading has not passed. */
  let ahead = underWay.reduce((ranges, { offset }) => withOffset(ranges, offset), doneBefore)

  function sweep(): void {
    let kept = 0
    for (const record of taken) if (!record.isDone) taken[kept++] = record
    taken.length = kept
    first = 0
  }

  function stillUnderWay(): readonly OpenRecord[] {
    return underWay.length === 0 ? underWay : underWay.filter(({ isDone }) => !isDone)
  }

  return {
    get next() {
      return next
    },
    get committable() {
      while (taken[first]?.isDone === true) first += 1
      const own = taken[first]?.offset ?? next
      return stillUnderWay().reduce((lowest, { offset }) => Math.min(lowest, offset), own)
    },
    get openCount() {
      return openCount
    },
    take(offset) {
      if (offset < next) throw new RangeError(`offset ${offset} was taken already: the next one is ${next}`)
      next = offset + 1
      while (ahead[0] !== undefined && ahead[0].to <= offset) ahead = ahead.slice(1)
      if (ahead[0] !== undefined && ahead[0].from <= offset) return null
      const record = { offset, isDone: false, isUnderWay: false, isGivenBack: false }
      taken.push(record)
      openCount += 1
      return record
    },
    finish(record) {
      if (record.isDone) throw new RangeError(`offset ${record.offset} was finished already`)
      record.isDone = true
      openCount -= 1
      if (taken.length > 2 * openCount + sweptAtLeast) sweep()
    },
    finishAt(offset) {
      const open = [...stillUnderWay(), ...taken].find((each) => each.offset === offset && !each.isDone)
      if (open !== undefined) this.finish(open)
      else if (offset >= next) ahead = withOffset(ahead, offset)
    },
    stop(offset) {
      for (const each of [...stillUnderWay(), ...taken]) if (each.offset === offset) each.isUnderWay = false
    },
    rewound() {
      const open = taken.filter(({ isDone }) => !isDone)
      const all = [...stillUnderWay(), ...open].toSorted((one, other) => one.offset - other.offset)
      const kept = all.filter(({ isUnderWay }) => isUnderWay === true)
      const given = all.filter(({ isUnderWay }) => isUnderWay !== true)
      // Those under way count as done here, and as open there.
      const done = kept.reduce((ranges, { offset }) => withOffset(ranges, offset), this.doneBeyond())
      for (const record of given) record.isGivenBack = true
      const from = given[0]?.offset ?? next
      return trackerOf(
        from,
        done.filter(({ to }) => to > from),
        kept,
      )
    },
    wasDone: (offset) => ahead.some(({ from, to }) => from <= offset && offset < to),
    skipTo(offset) {
      if (offset > next) next = offset
    },
    takeable(offsets, charactersMax) {
      const later = ahead.filter(({ to }) => to > next)
      let characters = 0
      let last: number | undefined
      /** With one more open record; the one before it is followed by what lies between them. */
      const add = (offset: number): void => {
        if (last !== undefined) characters += charactersOfOpen(offset - last - 1)
        last = offset
      }
      for (const { offset, isDone } of taken) if (!isDone) add(offset)
      for (const [index, offset] of offsets.entries()) {
        while (later[0] !== undefined && later[0].to <= offset) later.shift()
        const wasDone = later[0] !== undefined && later[0].from <= offset
        if (wasDone) continue
        // Alone it stops nothing: once it is done, nothing before it is open.
        const isAlone = last === undefined
        add(offset)
        if (!isAlone && characters + charactersBehind(offset, later) > charactersMax) return index
      }
      return offsets.length
    },
    doneBeyond() {
      const ranges: OffsetRange[] = []
      let cursor = this.committable
      for (const { offset, isDone } of taken) {
        if (isDone) continue
        if (offset > cursor) ranges.push({ from: cursor, to: offset })
        cursor = offset + 1
      }
      if (next > cursor) ranges.push({ from: cursor, to: next })
      for (const { from, to } of ahead) if (to > next) ranges.push({ from: Math.max(from, next), to })
      return stillUnderWay().reduce((left, { offset }) => withoutOffset(left, offset), ranges)
    },
  }
}

function withOffset(ranges: readonly OffsetRange[], offset: number): readonly OffsetRange[] {
  if (ranges.some(({ from, to }) => from <= offset && offset < to)) return ranges
  return [...ranges, { from: offset, to: offset + 1 }].toSorted((one, other) => one.from - other.from)
}

function withoutOffset(ranges: readonly OffsetRange[], offset: number): OffsetRange[] {
  return ranges.flatMap(({ from, to }) => {
    if (offset < from || offset >= to) return [{ from, to }]
    return [
      { from, to: offset },
      { from: offset + 1, to },
    ].filter((part) => part.from < part.to)
  })
}
