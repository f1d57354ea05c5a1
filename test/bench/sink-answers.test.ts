import { expect, test } from 'vitest'
import { createAnswers } from './sink-answers.ts'

let wallMs = 0
let monotonicNanos = 0
const answers = () => createAnswers({ wallMs: () => wallMs, monotonicNanos: () => monotonicNanos })
const attempt = (number: number) => `POST /x HTTP/1.1\r\nHost: here\r\nBarnabas-Attempt: ${number}\r\nce-id: event-7`
const status = (answer: Buffer | null) => answer?.toString().split(' ')[1] ?? null

test('each path answers by its kind and counts by itself', () => {
  const sink = answers()
  expect(['/200/a', '/200/b', '/503/a', '/hang/a'].map((path) => status(sink.to(path, '')))).toEqual([
    '200',
    '200',
    '503',
    null,
  ])
  expect(sink.tally('/200/a')).toMatchObject({ accepted: 1, refused: 0, hanging: 0 })
  expect(sink.tally('/503/a')).toMatchObject({ accepted: 0, refused: 1, hanging: 0 })
  expect(sink.tally('/hang/a')).toMatchObject({ accepted: 0, refused: 0, hanging: 1 })
  expect(() => sink.to('/404/a', '')).toThrow('no answer to /404/a')
})

test('the bytes of all bodies are added up', () => {
  const sink = answers()
  for (const bodyBytes of [10, 200]) sink.to('/200/a', '', bodyBytes)
  expect(sink.tally('/200/a')).toMatchObject({ accepted: 2, bodyBytes: 210 })
})

test('every n-th first attempt is refused, and no other', () => {
  const sink = answers()
  const firsts = Array.from({ length: 6 }, () => status(sink.to('/one-in/3/a', attempt(1))))
  expect(firsts).toEqual(['200', '200', '503', '200', '200', '503'])
  const seconds = Array.from({ length: 6 }, () => status(sink.to('/one-in/3/a', attempt(2))))
  expect(seconds).toEqual(Array(6).fill('200'))
})

test('the age of an event is counted from the moment that it carries', () => {
  const sink = answers()
  monotonicNanos = 12_500_000
  sink.to('/clock/a', 'POST /x HTTP/1.1\r\nce-senttime: 10000000\r\n')
  expect(sink.tally('/clock/a').times).toEqual([2.5])
})

test('of an event that comes twice the first time counts, and that it did', () => {
  const sink = answers()
  for (const [ms, id] of [
    [15, 1],
    [16, 2],
    [40, 1],
  ] as const) {
    monotonicNanos = ms * 1e6
    sink.to('/once/a', `POST /x HTTP/1.1\r\nce-id: event-${id}\r\nce-senttime: 10000000\r\n`)
  }
  expect(sink.tally('/once/a')).toMatchObject({ accepted: 3, times: [5, 6], surplus: 1 })
})

test('a second attempt is late or early by the answer to the first and the delay; a third is one too many', () => {
  const sink = answers()
  const at = (ms: number, id: number) => {
    wallMs = ms
    return status(sink.to('/again/100/a', `POST /x HTTP/1.1\r\nce-id: event-${id}\r\n`))
  }
  expect([at(1_000, 1), at(1_001, 2), at(1_099, 1), at(1_111, 2), at(1_112, 2)]).toEqual([
    '503',
    '503',
    '200',
    '200',
    '200',
  ])
  expect(sink.tally('/again/100/a')).toEqual({
    accepted: 3,
    refused: 2,
    hanging: 0,
    times: [-1, 10],
    early: 1,
    surplus: 1,
    bodyBytes: 0,
  })
})
