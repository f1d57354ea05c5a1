import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { dataDirCandidates } from './cluster.ts'

test('the data directory is looked for where the person is, above, and in the repository', () => {
  const repository = resolve(import.meta.dirname, '../..')
  expect(dataDirCandidates('.barnabas', '/a/b')).toEqual([
    '/a/b/.barnabas',
    '/a/.barnabas',
    '/.barnabas',
    `${repository}/.barnabas`,
  ])
  expect(dataDirCandidates('/data', '/a/b')).toEqual(['/data'])
})
