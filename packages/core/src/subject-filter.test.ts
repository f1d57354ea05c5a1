import { expect, test } from 'vitest'
import { compileFilter } from './filter.ts'
import type { SubjectFilter } from './subject-filter.ts'

const passes = (subject: SubjectFilter, text: string | undefined) => {
  const attributes = new Map(text === undefined ? [] : [['subject', text]])
  return compileFilter([], [{ subject }])({ mode: 'binary', attributes, value: null })
}

test.each<[SubjectFilter, subject: string | undefined, expected: boolean]>([
  [{ beginsWith: '/blobs/' }, '/blobs/a.jpg', true],
  [{ beginsWith: '/blobs/' }, '/BLOBS/a.jpg', true],
  [{ beginsWith: '/blobs/', caseSensitive: true }, '/BLOBS/a.jpg', false],
  [{ beginsWith: '/Blobs/', caseSensitive: true }, '/Blobs/a.jpg', true],
  [{ beginsWith: '/blobs/' }, 'x/blobs/', false],
  [{ beginsWith: '/blobs/*' }, '/blobs/a', false],
  [{ endsWith: '.jpg' }, '/a.JPG', true],
  [{ endsWith: '.jpg', caseSensitive: true }, '/a.JPG', false],
  [{ endsWith: '.jpg' }, '/a.jpg/', false],
  [{ beginsWith: '/a', endsWith: '.jpg' }, '/a.jpg', true],
  [{ beginsWith: '/a', endsWith: '.jpg' }, '/a.png', false],
  [{ beginsWith: '/a', endsWith: '.jpg' }, '/b.jpg', false],
  // Both may lie in the same letters.
  [{ beginsWith: 'aba', endsWith: 'aba' }, 'aba', true],
  [{ beginsWith: '', endsWith: '' }, 'anything', true],
  [{ beginsWith: '' }, undefined, true],
  [{ caseSensitive: true }, undefined, true],
  [{ beginsWith: '/a' }, undefined, false],
  [{ endsWith: 'a' }, '', false],
])('%j lets %j pass: %s', (filter, subject, expected) => {
  expect(passes(filter, subject)).toBe(expected)
})
