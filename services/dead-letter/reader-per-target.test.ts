import { blobLimits, blobTargetText } from '@barnabas/core'
import type { BlobTarget } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createReaderPerTarget } from './reader-per-target.ts'
import type { Wanted } from './reader-per-target.ts'

const existing = new Set(['a', 'b', 'c'])
const letters: BlobTarget = { account: 'archive', container: 'letters' }

function readersOf(wanted: Wanted<BlobTarget>[]) {
  const steps: string[] = []
  const errors: string[] = []
  const readers = createReaderPerTarget<BlobTarget>({
    textOf: blobTargetText,
    readersMax: blobLimits.containersMax,
    tooMany: (leftOut) => `more than 100 containers are named; no dead letters are written into ${leftOut}`,
    wanted: () => wanted,
    open({ account, container }, topics) {
      const name = `${account}/${container}`
      steps.push(`${name} opened`)
      return {
        follow: async () => void steps.push(`${name} follows ${topics().join()}`),
        close: async () => void steps.push(`${name} closed`),
      }
    },
    logger: { debug: () => {}, info: () => {}, warn: () => {}, error: (_, message) => void errors.push(message ?? '') },
  })
  return { readers, steps, errors, taken: () => steps.splice(0) }
}

test('one reader for each container that subscriptions name, as they come and go', async () => {
  const wanted: Wanted<BlobTarget>[] = [
    { target: letters, topics: ['a'] },
    { target: { ...letters }, topics: ['b', 'a'] },
    { target: { account: 'other', container: 'letters' }, topics: ['c'] },
  ]
  const { readers, taken } = readersOf(wanted)
  await readers.follow(existing)
  expect(taken()).toEqual([
    'archive/letters opened',
    'other/letters opened',
    'archive/letters follows a,b',
    'other/letters follows c',
  ])
  wanted.splice(1)
  await readers.follow(existing)
  expect(taken()).toEqual(['other/letters closed', 'archive/letters follows a'])
  await readers.close()
  expect(taken()).toEqual(['archive/letters closed'])
})

test('beyond the limit containers are left out, which is told once', async () => {
  const wanted = Array.from({ length: blobLimits.containersMax + 2 }, (_, index) => ({
    target: { account: 'archive', container: `c${index}` },
    topics: ['a'],
  }))
  const { readers, errors, taken } = readersOf(wanted)
  await readers.follow(existing)
  await readers.follow(existing)
  expect(errors).toEqual([
    'more than 100 containers are named; no dead letters are written into archive/c100, archive/c101',
  ])
  wanted.shift()
  taken()
  await readers.follow(existing)
  expect(taken()).toContain('archive/c100 opened')
  expect(errors.at(-1)).toBe('more than 100 containers are named; no dead letters are written into archive/c101')
})
