import { expect, test } from 'vitest'
import type { HandshakeAnswer } from './handshake-answer.ts'
import {
  afterAnswer,
  afterCall,
  awaitsHandshake,
  beginHandshake,
  failedText,
  handshakeTimes,
  pendingText,
  resumedHandshake,
  whenDue,
} from './handshake.ts'
import type { Handshake, PendingHandshake } from './handshake.ts'

const times = handshakeTimes(1)
const start = Date.parse('2026-12-02T10:00:00Z')
const at = (seconds: number) => start + seconds * 1_000
const asking = { handshake: 'event-grid', generation: 7, revision: 3 } as const
const callback = { url: 'https://barnabas.example/handshakes/orders/abc', validation: 'ab'.repeat(32) }
const begun = beginHandshake(asking, 'event-grid', callback, at(0), times)
const begunWithoutUrl = beginHandshake(asking, 'event-grid', null, at(0), times)

const agreed: HandshakeAnswer = { kind: 'agreed', allowedRate: 120 }
const mayAgree: HandshakeAnswer = { kind: 'may-agree', without: 'answered 200 without a validationResponse' }
const refused: HandshakeAnswer = { kind: 'not-agreed', problem: 'answered 503' }

const pending = (handshake: Handshake): PendingHandshake => {
  if (handshake.kind === 'succeeded' || handshake.kind === 'failed') throw new Error(`it is over: ${handshake.kind}`)
  return handshake
}

test('the times are those of Event Grid: 30 s for an answer, again after 5 s, 10 minutes for the URL; tests scale them', () => {
  expect(times).toEqual({ answerMs: 30_000, againMs: 5_000, tryingMs: 300_000, callMs: 600_000 })
  expect(handshakeTimes(0.001)).toEqual({ answerMs: 30, againMs: 5, tryingMs: 300, callMs: 600 })
  expect(handshakeTimes(0.00001).againMs).toBe(1)
})

test('agreed at once', () => {
  expect(afterAnswer(begun, agreed, at(1), times)).toEqual({
    kind: 'succeeded',
    form: 'event-grid',
    revision: 3,
    validation: callback.validation,
    at: '2026-12-02T10:00:01.000Z',
    allowedRate: 120,
  })
})

test('an endpoint that is starting up is asked again for five minutes, then it has failed', () => {
  let handshake: Handshake = begun
  const seen: string[] = []
  for (let second = 0; handshake.kind === 'trying'; second += 5) {
    handshake = afterAnswer(handshake, refused, at(second), times)
    seen.push(`${second} ${handshake.kind}`)
  }
  expect(seen).toHaveLength(60)
  expect(seen.slice(-2)).toEqual(['290 trying', '295 failed'])
  expect(handshake).toMatchObject({
    kind: 'failed',
    reason: 'the receiver has not agreed since 2026-12-02T10:00:00.000Z; the last try: answered 503',
  })
  expect(failedText(handshake as Extract<Handshake, { kind: 'failed' }>)).toMatch(
    /^the handshake \(event-grid\) has failed: the receiver has not agreed since .*; mend the receiver, then `barnabas start`/,
  )
})

test('a try that fails like the one before changes nothing, so that the status is not written again', () => {
  const once = pending(afterAnswer(begun, refused, at(1), times))
  expect(afterAnswer(once, refused, at(6), times)).toBe(once)
})

test('one that may agree has ten minutes to call the URL', () => {
  const awaiting = pending(afterAnswer(begun, mayAgree, at(10), times))
  expect(awaiting).toMatchObject({ kind: 'awaiting', url: callback.url, until: '2026-12-02T10:10:10.000Z' })
  expect(whenDue(awaiting, at(609))).toBe(awaiting)
  expect(afterCall(awaiting, null, at(609))).toMatchObject({ kind: 'succeeded', allowedRate: null })
  expect(whenDue(awaiting, at(610))).toMatchObject({
    kind: 'failed',
    reason:
      'the receiver answered 200 without a validationResponse, and nobody has called its validation URL before ' +
      '2026-12-02T10:10:10.000Z',
  })
})

test('without a URL one that may agree has not agreed', () => {
  expect(afterAnswer(begunWithoutUrl, mayAgree, at(1), times)).toMatchObject({
    kind: 'trying',
    problem: 'answered 200 without a validationResponse',
  })
})

test('the status says what is awaited, with the URL', () => {
  expect(pendingText(begunWithoutUrl)).toBe('asking the receiver whether it wants the events (handshake: event-grid)')
  expect(pendingText(pending(afterAnswer(begun, refused, at(1), times)))).toBe(
    'asking the receiver whether it wants the events (handshake: event-grid): answered 503; ' +
      `asking again until 2026-12-02T10:05:00.000Z; or call ${callback.url}`,
  )
  expect(pendingText(pending(afterAnswer(begun, mayAgree, at(0), times)))).toBe(
    'the receiver answered 200 without a validationResponse, and has not agreed yet: it, or you, must call ' +
      `${callback.url} before 2026-12-02T10:10:00.000Z`,
  )
})

const awaiting = pending(afterAnswer(begun, mayAgree, at(0), times))
const succeeded = afterCall(begun, null, at(1))
const failed = whenDue(awaiting, at(10_000))

test.each<
  [string, Handshake | null, typeof asking | { handshake: 'cloudevents'; generation: 7; revision: 3 }, number, boolean]
>([
  ['nothing', null, asking, 1, false],
  ['one that is being tried', begun, asking, 1, true],
  ['one that awaits its call', awaiting, asking, 599, true],
  ['one whose time is over', awaiting, asking, 600, false],
  ['one of another revision', { ...begun, revision: 2 }, asking, 1, false],
  ['one of another form', begun, { ...asking, handshake: 'cloudevents' }, 1, false],
  ['one that has failed', failed, asking, 1, false],
])('another process goes on with %s, or begins anew', (_, found, subscription, seconds, goesOn) => {
  expect(resumedHandshake(subscription, found, at(seconds))).toBe(goesOn ? found : null)
})

const status = (handshake: Handshake | null, generation = 7) => ({ generation, handshake })

test.each<[string, Parameters<typeof awaitsHandshake>[1], boolean]>([
  ['no status', null, true],
  ['none begun', status(null), true],
  ['one that is being tried', status(begun), true],
  ['one that awaits its call', status(awaiting), true],
  ['one that has failed', status(failed), true],
  ['one that has succeeded', status(succeeded), false],
  ['one of another revision', status({ ...succeeded, revision: 2 }), true],
  ['one of another form', status({ ...succeeded, form: 'cloudevents' }), true],
  ['one of another life', status(succeeded, 6), true],
])('no event goes out with %s: %s', (_, found, awaits) => {
  expect(awaitsHandshake(asking, found)).toBe(awaits)
  expect(awaitsHandshake({ ...asking, handshake: 'none' }, found)).toBe(false)
})
