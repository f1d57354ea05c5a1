import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createFolderBlobSink } from './folder-blob-sink.ts'

const path = 'ORDERS/2026/3/1/12/guid.json'
const { signal } = new AbortController()
let root: string

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'barnabas-blobs-'))
  await mkdir(join(root, 'letters'))
})
afterEach(() => rm(root, { recursive: true, force: true }))

test('a blob is a file in the folder of its container, whole or not there, and stays as it is', async () => {
  const sink = createFolderBlobSink(root, 'letters')
  expect(await sink.write(path, Buffer.from('[1]'), signal)).toEqual({ kind: 'written' })
  expect(await sink.write(path, Buffer.from('[2]'), signal)).toEqual({ kind: 'there' })
  const files = await readdir(root, { recursive: true })
  expect(files.toSorted().at(-1)).toBe(`letters/${path}`)
  expect(files.filter((name) => name.includes('.'))).toHaveLength(1)
  expect(await readFile(join(root, 'letters', path), 'utf8')).toBe('[1]')
})

test('a container that does not exist is not made', async () => {
  const sink = createFolderBlobSink(root, 'others')
  expect(await sink.write(path, Buffer.from('[1]'), signal)).toEqual({ kind: 'no-container' })
  expect(await readdir(root)).toEqual(['letters'])
})

test('a disk that is not there may come back', async () => {
  const sink = createFolderBlobSink(join(root, 'disk'), 'letters')
  const expected = { kind: 'unavailable', message: `${join(root, 'disk')} is no folder` }
  expect(await sink.write(path, Buffer.from('[1]'), signal)).toEqual(expected)
})

test('a file where a folder has to be is no blob that is there already', async () => {
  await writeFile(join(root, 'letters', 'ORDERS'), 'in the way')
  const sink = createFolderBlobSink(root, 'letters')
  expect(await sink.write(path, Buffer.from('[1]'), signal)).toMatchObject({ kind: 'unavailable' })
})
