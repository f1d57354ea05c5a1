import { expect, test } from 'vitest'
import { answersBy } from './fate.ts'
import type { Fate } from './ledger.ts'

const fates: Readonly<Record<string, Fate>> = {
  a: { kind: 'ok' },
  b: { kind: 'ok' },
  once: { kind: 'fails', times: 1 },
  twice: { kind: 'fails', times: 2 },
  again: { kind: 'fails', times: 2 },
  hangs: { kind: 'hangs', times: 1 },
}
const answers = () => answersBy((id) => fates[id]!)

test('events that are answered alike, all at the number that the request tells, are answered together', () => {
  const answerTo = answers()
  expect(answerTo(['a', 'b'], 1)).toBe(200)
  expect(answerTo(['twice', 'again'], 1)).toBe(503)
  expect(answerTo(['twice', 'again'], 2)).toBe(503)
  expect(answerTo(['twice', 'again'], 3)).toBe(200)
})

test('any others are split, and nothing is counted of it', () => {
  const answerTo = answers()
  expect(answerTo(['a', 'once'], 1)).toBe(413)
  expect(answerTo(['a', 'hangs'], 1)).toBe(413)
  expect(answerTo(['once', 'twice'], 1)).toBe(503)
  expect(answerTo(['twice', 'again'], 1)).toBe(413)
  expect(answerTo(['again'], 1)).toBe(503)
  expect(answerTo(['twice', 'again'], 2)).toBe(503)
})

test('one alone is told its number, and is answered by it, whatever came before', () => {
  const answerTo = answers()
  expect(answerTo(['hangs'], 1)).toBeNull()
  expect(answerTo(['hangs'], 1)).toBeNull()
  expect(answerTo(['hangs'], 3)).toBe(200)
})
