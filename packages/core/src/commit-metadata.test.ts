import { expect, test } from 'vitest'
import { commitMetadataBytesMax, decodeCommitMetadata, encodeCommitMetadata, plainLabel } from './commit-metadata.ts'
import { decodeRanges, encodeRanges } from './offset-ranges.ts'

const done = [
  { from: 101, to: 103 },
  { from: 104, to: 1_400 },
]

test('the format: open and done in turn, in base 36, from the committed offset on', () => {
  expect(encodeCommitMetadata(plainLabel(7), 100, done)).toBe('barnabas/1 generation=7 done=1.2.1.100')
  expect(encodeCommitMetadata(plainLabel(7), 100)).toBe('barnabas/1 generation=7')
})

test('what was written is read', () => {
  const metadata = encodeCommitMetadata(plainLabel(1_772_366_400_000), 100, done)
  expect(decodeCommitMetadata(metadata, 100)).toEqual({
    ...plainLabel(1_772_366_400_000),
    done,
    isWhole: true,
  })
})

const topicId = 'Xq0pLJ5sTgqbZ2lMmHk1Vw'

test.each([
  ['topic=Xq0pLJ5sTgqbZ2lMmHk1Vw', { topicId }],
  ['void-start=500', { voidStart: 500 }],
  ['void-start=0', { voidStart: 0 }],
  ['anew=1', { isAnew: true }],
  ['skipped=12', { skippedOffsets: 12 }],
  [
    'topic=Xq0pLJ5sTgqbZ2lMmHk1Vw void-start=500 anew=1 skipped=12',
    { topicId, voidStart: 500, isAnew: true, skippedOffsets: 12 },
  ],
])('what else there is to say of the partition: %s', (words, said) => {
  const label = { ...plainLabel(7), ...said }
  expect(encodeCommitMetadata(label, 100)).toBe(`barnabas/1 generation=7 ${words}`)
  expect(encodeCommitMetadata(label, 100, done)).toBe(`barnabas/1 generation=7 ${words} done=1.2.1.100`)
  expect(decodeCommitMetadata(encodeCommitMetadata(label, 100, done), 100)).toEqual({ ...label, done, isWhole: true })
})

test('with all that can be said at its longest, the whole room is left for what is done', () => {
  const longest = Number.MAX_SAFE_INTEGER
  const label = { generation: longest, topicId, voidStart: longest, isAnew: true, skippedOffsets: longest }
  const alternating = Array.from({ length: 5_000 }, (_, index) => ({ from: 2 * index + 1, to: 2 * index + 2 }))
  expect(encodeCommitMetadata(label, 0, alternating).length).toBeLessThanOrEqual(commitMetadataBytesMax)
})

test.each(['', 'x', 'barnabas/1', 'barnabas/1 generation=', 'barnabas/1 generation=x', 'x generation=1', '\u0000'])(
  'what another tool wrote is none of ours: %j',
  (foreign) => expect(decodeCommitMetadata(foreign, 0)).toBeNull(),
)

test.each(['1', '1.2.3', '1.', '.1', '1..2', '-1.2', '1.0', 'A.B', '1.2\n', ' 1.2', `1.${'z'.repeat(11)}`, '1,2'])(
  'damaged runs cost duplicates and nothing else: %j',
  (runs) =>
    expect(decodeCommitMetadata(`barnabas/1 generation=7 done=${runs}`, 5)).toEqual({
      ...plainLabel(7),
      done: [],
      isWhole: false,
    }),
)

test('what does not fit is left out from the end, never cut within', () => {
  const alternating = Array.from({ length: 5_000 }, (_, index) => ({ from: 2 * index + 1, to: 2 * index + 2 }))
  const metadata = encodeCommitMetadata(plainLabel(7), 0, alternating)
  expect(metadata.length).toBeLessThanOrEqual(commitMetadataBytesMax)
  const read = decodeCommitMetadata(metadata, 0)
  expect(read?.isWhole).toBe(true)
  expect(read?.done.length).toBeGreaterThan(950)
  expect(read?.done).toEqual(alternating.slice(0, read?.done.length))
})

test('no ranges are no text', () => {
  expect(encodeRanges(5, [], 100)).toBe('')
  expect(decodeRanges(5, '')).toEqual([])
})
