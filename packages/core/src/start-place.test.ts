import { expect, test } from 'vitest'
import { encodeCommitMetadata, plainLabel } from './commit-metadata.ts'
import type { CommitLabel } from './commit-metadata.ts'
import type { OffsetRange } from './offset-ranges.ts'
import { noGeneration, startPlace, startPlaceWithoutLives } from './start-place.ts'
import type { KnownPlace, PartitionFacts } from './start-place.ts'

const generation = 1_772_366_400_000
const [topicId, formerId] = ['Xq0pLJ5sTgqbZ2lMmHk1Vw', 'AAAAAAAAAAAAAAAAAAAAAA']
const ours = (
  offset: number,
  ofGeneration = generation,
  said: Partial<CommitLabel> = {},
  done: readonly OffsetRange[] = [],
) => ({
  offset,
  metadata: encodeCommitMetadata({ ...plainLabel(ofGeneration), ...said }, offset, done),
})

const facts: PartitionFacts = {
  generation,
  committed: undefined,
  start: 100,
  low: 10,
  topicId,
  ranBefore: false,
  startedId: undefined,
  wasMissing: false,
}

const at = (offset: number) => ({ kind: 'at', offset })

test.each<[string, Partial<PartitionFacts>, ReturnType<typeof startPlace>['kind'] | number]>([
  ['a first start begins where apply said', {}, 100],
  ['a partition that was created later is read from its beginning', { start: undefined }, 10],
  ['start offsets that retention has passed are raised to the first record', { start: 5 }, 10],
  ['what was committed wins', { committed: ours(150) }, 150],
  ['what was committed wins also after it ran', { committed: ours(150), ranBefore: true }, 150],
  ['another life of the id does not count', { committed: ours(150, 1) }, 100],
  ['another life does not count, and this one is at its beginning', { committed: ours(150, 1), start: undefined }, 10],
  ['an operator’s reset counts, forwards', { committed: { offset: 999, metadata: '' } }, 999],
  ['an operator’s reset counts, backwards', { committed: { offset: 12, metadata: '' }, ranBefore: true }, 12],
  ['what some other tool wrote beside its offset is no generation', { committed: { offset: 12, metadata: 'x' } }, 12],
  ['a topic that left and came back with from: latest goes on where it came back', { committed: ours(50) }, 100],
  ['who ran before and finds nothing must not guess', { ranBefore: true }, 'unknown'],
  ['nor who finds nothing in the topic with which it ran', { ranBefore: true, startedId: topicId }, 'unknown'],
  ['who ran before and finds only another life must not guess', { ranBefore: true, committed: ours(1, 2) }, 'unknown'],
  ['a topic that was missing is read from its beginning', { wasMissing: true, low: 0 }, 0],
  [
    'a topic that was missing: its old start offset does not raise a commit',
    { wasMissing: true, committed: ours(3), low: 0 },
    3,
  ],
])('%s', (_name, changes, expected) => {
  const place = startPlace({ ...facts, ...changes })
  expect(place).toMatchObject(typeof expected === 'number' ? at(expected) : { kind: expected })
})

const mine = (offset: number, said: Partial<CommitLabel> = {}, done: readonly OffsetRange[] = []) =>
  ours(offset, generation, said, done)

test.each<[string, Partial<PartitionFacts>, Partial<KnownPlace>]>([
  [
    'a topic that was made anew is read from its beginning, though it has grown beyond what was read',
    { committed: mine(150, { topicId: formerId }, [{ from: 152, to: 155 }]) },
    { offset: 10, done: [], isAnew: true, voidStart: 100 },
  ],
  ['and goes on from there', { committed: mine(20, { topicId, voidStart: 100, isAnew: true }) }, { offset: 20 }],
  [
    'and remembers it',
    { committed: mine(20, { topicId, voidStart: 100, isAnew: true }) },
    { isAnew: true, voidStart: 100 },
  ],
  [
    'also when the brokers have forgotten what was committed of the former one',
    { ranBefore: true, startedId: formerId },
    { offset: 10, isAnew: true, voidStart: 100 },
  ],
  ['another start offset counts again', { committed: mine(20, { voidStart: 100 }), start: 90 }, { offset: 90 }],
  ['a commit that names no topic is taken as it is', { committed: mine(150) }, { offset: 150, isAnew: false }],
  [
    'brokers that cannot tell are believed too',
    { committed: mine(150, { topicId: formerId }), topicId: undefined },
    { offset: 150, isAnew: false },
  ],
  [
    'an operator’s reset below the start offset is kept by the next reader',
    { committed: { offset: 12, metadata: '' } },
    { offset: 12, voidStart: 100 },
  ],
  [
    'what was deleted before it was read is counted',
    { committed: mine(150), low: 180 },
    { offset: 180, skippedOffsets: 30 },
  ],
  [
    'but not what was done of it',
    {
      committed: mine(150, { skippedOffsets: 2 }, [
        { from: 160, to: 170 },
        { from: 175, to: 200 },
      ]),
      low: 180,
    },
    { offset: 180, skippedOffsets: 2 + 15, done: [{ from: 175, to: 200 }] },
  ],
  ['also before the first read', { start: 5 }, { offset: 10, skippedOffsets: 5 }],
  ['what comes later is not', { committed: mine(150), low: 150 }, { offset: 150, skippedOffsets: 0 }],
])('%s', (_name, changes, expected) => {
  expect(startPlace({ ...facts, ...changes })).toMatchObject(expected)
})

test('what an earlier reader has done beyond its commit is not read again', () => {
  const done = [{ from: 152, to: 155 }]
  const committed = { offset: 150, metadata: encodeCommitMetadata(plainLabel(generation), 150, done) }
  expect(startPlace({ ...facts, committed })).toMatchObject({ kind: 'at', offset: 150, done })
  expect(startPlace({ ...facts, committed, generation: 7, start: undefined })).toMatchObject({ ...at(10), done: [] })
})

test('a reader without lives goes on where its group stands, else from the beginning', () => {
  const found = { committed: undefined, low: 10, topicId }
  expect(startPlaceWithoutLives(found)).toMatchObject({ kind: 'at', offset: 10, done: [] })
  const done = [{ from: 152, to: 155 }]
  const committed = { offset: 150, metadata: encodeCommitMetadata(plainLabel(noGeneration), 150, done) }
  expect(startPlaceWithoutLives({ ...found, committed })).toMatchObject({ kind: 'at', offset: 150, done })
})
