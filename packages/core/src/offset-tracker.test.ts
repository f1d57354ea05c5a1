import fc from 'fast-check'
import { expect, test } from 'vitest'
import { commitMetadataRoom, decodeCommitMetadata, encodeCommitMetadata, plainLabel } from './commit-metadata.ts'
import { decodeRanges, encodeRanges } from './offset-ranges.ts'
import { createOffsetTracker } from './offset-tracker.ts'
import type { OpenRecord } from './offset-tracker.ts'

test('the picture: records finish out of order, offsets have gaps', () => {
  const tracker = createOffsetTracker(40)
  const [at40, at41, at43, at44, at45] = [40, 41, 43, 44, 45].map((offset) => tracker.take(offset))
  expect(tracker).toMatchObject({ next: 46, committable: 40, openCount: 5 })
  tracker.finish(at41!)
  tracker.finish(at44!)
  expect(tracker).toMatchObject({ next: 46, committable: 40, openCount: 3 })
  tracker.finish(at40!)
  expect(tracker).toMatchObject({ next: 46, committable: 43, openCount: 2 })
  tracker.finish(at45!)
  expect(tracker).toMatchObject({ next: 46, committable: 43, openCount: 1 })
  tracker.finish(at43!)
  expect(tracker).toMatchObject({ next: 46, committable: 46, openCount: 0 })
})

test('what an earlier life has done can be looked up before it is taken', () => {
  const tracker = createOffsetTracker(4, [{ from: 5, to: 7 }])
  expect([4, 5, 6, 7].map((offset) => tracker.wasDone(offset))).toEqual([false, true, true, false])
  tracker.take(4)
  expect(tracker.take(5)).toBeNull()
  expect(tracker.wasDone(6)).toBe(true)
})

test('nothing taken: the start is what may be committed', () => {
  expect(createOffsetTracker(7)).toMatchObject({ next: 7, committable: 7, openCount: 0 })
})

test('a gap before the first record is passed over only when that record is done', () => {
  const tracker = createOffsetTracker(0)
  const record = tracker.take(1_000)!
  expect(tracker).toMatchObject({ next: 1_001, committable: 1_000 })
  tracker.finish(record)
  expect(tracker.committable).toBe(1_001)
})

test('skipping moves what may be committed only while nothing is open, and never back', () => {
  const tracker = createOffsetTracker(10)
  tracker.skipTo(15)
  expect(tracker).toMatchObject({ next: 15, committable: 15 })
  const record = tracker.take(15)!
  tracker.skipTo(30)
  expect(tracker).toMatchObject({ next: 30, committable: 15, openCount: 1 })
  tracker.skipTo(20)
  expect(tracker.next).toBe(30)
  tracker.finish(record)
  expect(tracker).toMatchObject({ next: 30, committable: 30, openCount: 0 })
})

test('an offset is taken once', () => {
  const tracker = createOffsetTracker(5)
  tracker.take(5)
  expect(() => tracker.take(5)).toThrow('offset 5 was taken already: the next one is 6')
  expect(() => tracker.take(4)).toThrow(RangeError)
  tracker.skipTo(9)
  expect(() => tracker.take(8)).toThrow('offset 8 was taken already: the next one is 9')
  expect(tracker).toMatchObject({ next: 9, committable: 5, openCount: 1 })
})

test('a record is finished once', () => {
  const tracker = createOffsetTracker(0)
  const [first, second] = [tracker.take(0)!, tracker.take(1)!]
  tracker.finish(second)
  expect(() => tracker.finish(second)).toThrow('offset 1 was finished already')
  expect(tracker).toMatchObject({ committable: 0, openCount: 1 })
  tracker.finish(first)
  expect(() => tracker.finish(first)).toThrow('offset 0 was finished already')
  expect(tracker).toMatchObject({ committable: 2, openCount: 0 })
})

test('a hundred thousand records behind an open one, and then it closes', () => {
  const tracker = createOffsetTracker(0)
  const open = tracker.take(0)!
  for (let offset = 1; offset < 100_000; offset += 1) tracker.finish(tracker.take(offset)!)
  expect(tracker).toMatchObject({ next: 100_000, committable: 0, openCount: 1 })
  tracker.finish(open)
  expect(tracker).toMatchObject({ next: 100_000, committable: 100_000, openCount: 0 })
  const later = tracker.take(100_000)!
  expect(tracker.committable).toBe(100_000)
  tracker.finish(later)
  expect(tracker.committable).toBe(100_001)
})

/** What a tracker is asked to do: take the record `gap` offsets further on, finish one of the open ones, or skip. */
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('take' as const), gap: fc.nat({ max: 3 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('finish' as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('skip' as const), by: fc.integer({ min: -3, max: 5 }) }) },
)

test.each([
  ['short lives', 40, 500],
  // Long enough that finished records are forgotten on the way.
  ['long lives', 6_000, 5],
])('promise 4: what may be committed is the first open record, else where reading goes on (%s)', (_, length, runs) => {
  fc.assert(
    fc.property(fc.nat(), fc.array(step, { minLength: length / 2, maxLength: length, size: 'max' }), (start, steps) => {
      const tracker = createOffsetTracker(start)
      const open: OpenRecord[] = []
      let next = start
      let committed = start
      for (const action of steps) {
        if (action.kind === 'take') {
          open.push(tracker.take(next + action.gap)!)
          next += action.gap + 1
        } else if (action.kind === 'skip') {
          tracker.skipTo(next + action.by)
          next = Math.max(next, next + action.by)
        } else if (open.length > 0) {
          // Mostly old ones, as in life; else the list of open records would only grow.
          const index = action.which % Math.min(open.length, 20)
          tracker.finish(open.splice(index, 1)[0]!)
        }
        const committable = open[0]?.offset ?? next
        expect([tracker.next, tracker.committable, tracker.openCount]).toEqual([next, committable, open.length])
        expect(committable).toBeGreaterThanOrEqual(committed)
        committed = committable
      }
    }),
    // Thousands of steps are not worth shrinking: short lives show the same mistake smaller.
    { numRuns: runs, endOnFailure: length > 1_000 },
  )
})

test('the picture: what is done beyond the first open record', () => {
  const tracker = createOffsetTracker(40)
  const [at40, at41, , at44] = [40, 41, 43, 44, 45].map((offset) => tracker.take(offset)!)
  expect(tracker.doneBeyond()).toEqual([{ from: 42, to: 43 }])
  tracker.finish(at41!)
  tracker.finish(at44!)
  expect(tracker.doneBeyond()).toEqual([
    { from: 41, to: 43 },
    { from: 44, to: 45 },
  ])
  tracker.finish(at40!)
  expect([tracker.committable, tracker.doneBeyond()]).toEqual([43, [{ from: 44, to: 45 }]])
})

test('what an earlier life has done is not taken again, and is kept until reading has passed it', () => {
  const done = [
    { from: 12, to: 14 },
    { from: 16, to: 20 },
  ]
  const tracker = createOffsetTracker(10, done)
  expect(tracker.doneBeyond()).toEqual(done)
  const taken = [10, 11, 12, 13, 14].map((offset) => tracker.take(offset))
  expect(taken.map((record) => record?.offset ?? null)).toEqual([10, 11, null, null, 14])
  expect(tracker.doneBeyond()).toEqual(done)
  for (const record of taken) if (record !== null) tracker.finish(record)
  expect([tracker.committable, tracker.doneBeyond()]).toEqual([15, [{ from: 16, to: 20 }]])
  expect([tracker.take(15)?.offset, tracker.take(19), tracker.take(20)?.offset]).toEqual([15, null, 20])
  expect([tracker.committable, tracker.doneBeyond()]).toEqual([15, [{ from: 16, to: 20 }]])
})

test('a life that begins with the metadata of another takes exactly what that one had open', () => {
  fc.assert(
    fc.property(fc.nat({ max: 1_000 }), fc.array(fc.boolean(), { maxLength: 200 }), (start, finishes) => {
      const first = createOffsetTracker(start)
      const records = finishes.map((_, index) => first.take(start + index)!)
      records.forEach((record, index) => finishes[index] && first.finish(record))
      const metadata = encodeCommitMetadata(plainLabel(7), first.committable, first.doneBeyond())
      const { done } = decodeCommitMetadata(metadata, first.committable)!
      const second = createOffsetTracker(first.committable, done)
      const again = []
      for (let offset = second.next; offset < start + finishes.length; offset += 1)
        again.push(second.take(offset)?.offset)
      expect(again.filter((offset) => offset !== undefined)).toEqual(
        records.filter((_, index) => !finishes[index]).map(({ offset }) => offset),
      )
    }),
  )
})

/** As few characters as a commit's metadata never has, so that it is full soon. */
const roomMax = 24
const takeOrFinish = fc.oneof(
  fc.record({ kind: fc.constant('take' as const), gaps: fc.array(fc.nat({ max: 2 }), { minLength: 1, maxLength: 6 }) }),
  fc.record({ kind: fc.constant('finish' as const), which: fc.nat() }),
)

test('what is done always fits into the metadata, in whatever order it is done, also after a change of owner', () => {
  fc.assert(
    fc.property(
      fc.nat({ max: 1_000_000 }),
      fc.array(takeOrFinish, { maxLength: 120 }),
      fc.nat(),
      (start, steps, change) => {
        let tracker = createOffsetTracker(start)
        let open: OpenRecord[] = []
        for (const [index, action] of steps.entries()) {
          if (index === change % 120) {
            tracker = createOffsetTracker(tracker.committable, tracker.doneBeyond())
            open = []
          }
          if (action.kind === 'take') {
            let offset = tracker.next - 1
            const offsets = action.gaps.map((gap) => (offset += gap + 1))
            const takeable = tracker.takeable(offsets, roomMax)
            if (open.length === 0) expect(takeable).toBeGreaterThan(0)
            for (const taken of offsets.slice(0, takeable)) {
              const record = tracker.take(taken)
              if (record !== null) open.push(record)
            }
          } else if (open.length > 0) {
            tracker.finish(open.splice(action.which % open.length, 1)[0]!)
          }
          const done = tracker.doneBeyond()
          const text = encodeRanges(tracker.committable, done, roomMax)
          expect(decodeRanges(tracker.committable, text)).toEqual(done)
        }
      },
    ),
    { numRuns: 2_000 },
  )
})

test('a thousand open records, every second one done: they fit, and the next has to wait', () => {
  const tracker = createOffsetTracker(0)
  const room = commitMetadataRoom
  const offsets = Array.from({ length: 5_000 }, (_, offset) => offset)
  const takeable = tracker.takeable(offsets, room)
  expect(takeable).toBeGreaterThan(1_900)
  const open = offsets.slice(0, takeable).map((offset) => tracker.take(offset)!)
  for (const record of open.filter(({ offset }) => offset % 2 === 1)) tracker.finish(record)
  const metadata = encodeCommitMetadata(plainLabel(1_772_366_400_000), 0, tracker.doneBeyond())
  expect(metadata.length).toBeLessThanOrEqual(4_096)
  expect(decodeCommitMetadata(metadata, 0)?.done).toEqual(tracker.doneBeyond())
  expect(tracker.takeable([takeable], room)).toBe(0)
  tracker.finish(open[0]!)
  expect(tracker.takeable([takeable], room)).toBe(1)
})

test('what is not under way is taken again after it was rewound, what is done or under way is not', () => {
  const before = createOffsetTracker(10)
  const [at10, at11, at12, at13] = [10, 11, 12, 13].map((offset) => before.take(offset)!) as [
    OpenRecord,
    OpenRecord,
    OpenRecord,
    OpenRecord,
  ]
  at10.isUnderWay = true
  before.finish(at12)
  const tracker = before.rewound()
  expect([at10, at11, at13].map(({ isGivenBack }) => isGivenBack)).toEqual([false, true, true])
  expect(tracker).toMatchObject({ next: 11, committable: 10, openCount: 1 })
  expect(tracker.doneBeyond()).toEqual([{ from: 12, to: 13 }])
  const again = tracker.take(11)!
  expect(tracker.take(12)).toBeNull()
  tracker.finish(again)
  expect(tracker.doneBeyond()).toEqual([{ from: 11, to: 13 }])
  expect(tracker.committable).toBe(10)
  tracker.finish(at10)
  expect(tracker).toMatchObject({ next: 13, committable: 13, openCount: 0 })
})

test('one under way beyond where reading goes on is passed over, and holds back what may be committed', () => {
  const before = createOffsetTracker(0)
  const [, at1] = [before.take(0)!, before.take(1)!] as const
  at1.isUnderWay = true
  const tracker = before.rewound().rewound()
  expect(tracker).toMatchObject({ next: 0, committable: 0, openCount: 1 })
  tracker.finish(tracker.take(0)!)
  expect(tracker.take(1)).toBeNull()
  expect(tracker).toMatchObject({ next: 2, committable: 1 })
  tracker.finishAt(1)
  expect(tracker).toMatchObject({ next: 2, committable: 2, openCount: 0 })
})

test('finished by its offset before it was taken, it is never taken', () => {
  const tracker = createOffsetTracker(5, [{ from: 6, to: 7 }])
  tracker.finishAt(8)
  tracker.finishAt(5)
  tracker.finishAt(4)
  expect(tracker.doneBeyond()).toEqual([
    { from: 5, to: 6 },
    { from: 6, to: 7 },
    { from: 8, to: 9 },
  ])
  expect([5, 6, 7, 8].map((offset) => tracker.take(offset)?.offset ?? null)).toEqual([null, null, 7, null])
})

test('what is under way no more is taken again after the next rewind, with what came after it', () => {
  const before = createOffsetTracker(0)
  const [at0] = [before.take(0)!, before.take(1)!] as const
  at0.isUnderWay = true
  const between = before.rewound()
  between.finish(between.take(1)!)
  between.stop(0)
  between.stop(7)
  const tracker = between.rewound()
  expect(tracker).toMatchObject({ next: 0, committable: 0, openCount: 0 })
  expect(at0.isGivenBack).toBe(true)
  expect([0, 1, 2].map((offset) => tracker.take(offset)?.offset ?? null)).toEqual([0, null, 2])
})
