import { expect, test } from 'vitest'
import { encodeCommitMetadata } from './commit-metadata.ts'
import { startPlace } from './start-place.ts'
import type { PartitionFacts } from './start-place.ts'

const generation = 1_772_366_400_000
const ours = (offset: number, ofGeneration = generation) => ({
  offset,
  metadata: encodeCommitMetadata(ofGeneration, offset),
})

const facts: PartitionFacts = {
  generation,
  committed: undefined,
  start: 100,
  low: 10,
  ranBefore: false,
  wasMissing: false,
}

const at = (offset: number) => ({ kind: 'at', offset, done: [] })

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
  ['who ran before and finds only another life must not guess', { ranBefore: true, committed: ours(1, 2) }, 'unknown'],
  ['a topic that was missing is read from its beginning', { wasMissing: true, low: 0 }, 0],
  [
    'a topic that was missing: its old start offset does not raise a commit',
    { wasMissing: true, committed: ours(3) },
    3,
  ],
])('%s', (_name, changes, expected) => {
  const place = startPlace({ ...facts, ...changes })
  expect(place).toEqual(typeof expected === 'number' ? at(expected) : { kind: expected })
})

test('what an earlier reader has done beyond its commit is not read again', () => {
  const done = [{ from: 152, to: 155 }]
  const committed = { offset: 150, metadata: encodeCommitMetadata(generation, 150, done) }
  expect(startPlace({ ...facts, committed })).toEqual({ kind: 'at', offset: 150, done })
  expect(startPlace({ ...facts, committed, generation: 7, start: undefined })).toEqual(at(10))
})
