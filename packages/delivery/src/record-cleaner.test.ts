import { encodeCommitMetadata, plainLabel } from '@barnabas/core'
import { expect, test } from 'vitest'
import { createRecordCleaner } from './record-cleaner.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const former = 'A'.repeat(22)
const present = 'B'.repeat(22)

function commitOf(topic: string, offset: number, topicId: string | null) {
  return { topic, partition: 0, offset, metadata: encodeCommitMetadata({ ...plainLabel(0), topicId }, offset) }
}

async function cleaned(...commits: readonly ReturnType<typeof commitOf>[]): Promise<readonly string[]> {
  const deleted: string[] = []
  const cleaner = createRecordCleaner({
    admin: {
      topicIds: (topics) => Promise.resolve(new Map(topics.map((topic) => [topic, present]))),
      async deleteRecords(below) {
        for (const { topic, offset } of below) deleted.push(`${topic} ${offset}`)
      },
    },
    logger: silent,
  })
  cleaner.committed(commits)
  await cleaner.close()
  return deleted
}

test('what lies below the last commit is deleted', async () => {
  expect(await cleaned(commitOf('tier', 5, present), commitOf('tier', 9, present))).toEqual(['tier 9'])
})

test('of a topic that was made again nothing is deleted by what was committed of the former one', async () => {
  expect(await cleaned(commitOf('other', 3, present), commitOf('tier', 100, former))).toEqual(['other 3'])
})

test('where the broker could not tell the id of a topic its records are deleted all the same', async () => {
  expect(await cleaned(commitOf('tier', 7, null))).toEqual(['tier 7'])
})
