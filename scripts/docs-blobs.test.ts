import { blobLimits, deadLetterProperties, formatDuration } from '@barnabas/core'
import { expect, test } from 'vitest'
import { differences, page, rowsOf, tableOf } from './markdown.ts'
import type { Row } from './markdown.ts'

/** The tables of docs/event-grid.md, "Dead letters in blobs", that say what the code says too. */
const section = 'Dead letters in blobs'
const eventGrid = page('docs/event-grid.md')

test('properties of a dead letter in a blob', () => {
  const actual = rowsOf(
    [...deadLetterProperties],
    (name) => name,
    (name) => ({ 'on CloudEvents': `\`${name.toLowerCase()}\`` }),
  )
  expect(differences('properties', tableOf(eventGrid, section, 1), actual)).toBe('')
})

test('limits of blobs', () => {
  const { delayMs, spreadMs, firstPauseMs, longestPauseMs, givenUpAfterMs, eventsMax, bytesMax, containersMax } =
    blobLimits
  const size = `${eventsMax.toLocaleString('en')} dead letters or ${bytesMax / 1024 / 1024}MB`
  const actual = new Map<string, Row>(
    Object.entries({
      'wait before a dead letter is written': `${formatDuration(delayMs)}; what is due up to ${formatDuration(spreadMs)} later goes along with it`,
      'one blob': `${size}, or one larger one; of one subscription`,
      'pauses while the store cannot be reached': `${formatDuration(firstPauseMs)}, doubled up to ${formatDuration(longestPauseMs)}`,
      'a blob is given up': `after ${formatDuration(givenUpAfterMs)} of failure; at once when the container does not exist`,
      'containers per process': String(containersMax),
      'memory per container': 'what is read for its next blobs, whatever waits behind it',
    }).map(([name, is]) => [name, { is }]),
  )
  expect(differences('limits', tableOf(eventGrid, section, 3), actual)).toBe('')
})
