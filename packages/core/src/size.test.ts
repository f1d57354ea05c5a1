import { expect, test } from 'vitest'
import { formatSize, parseSize } from './size.ts'

test.each([
  ['0B', 0],
  ['1B', 1],
  ['64KB', 65_536],
  ['1023KB', 1_047_552],
  ['1MB', 1_048_576],
])('%s is %d bytes and is printed back', (text, sizeBytes) => {
  expect(parseSize(text)).toBe(sizeBytes)
  expect(formatSize(sizeBytes)).toBe(text)
})

test.each(['', '64', '64kb', '64 KB', '1.5MB', '-1KB', '1GB', 'KB', '9999999999KB'])('%j is no size', (text) => {
  expect(parseSize(text)).toBeNull()
})

test.each([null, undefined, 64, {}, ['64KB']])('%j is no size', (value) => {
  expect(parseSize(value)).toBeNull()
})
