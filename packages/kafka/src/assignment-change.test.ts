import { describe, expect, test } from 'vitest'
import { compareAssignments, continues } from './assignment-change.ts'

/** 'a0 b1' */
function parse(text: string): { topic: string; partition: number }[] {
  return text
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => ({ topic: name.slice(0, 1), partition: Number(name.slice(1)) }))
}

describe('compareAssignments', () => {
  test.each([
    { before: '', now: 'a0 b0', isContinued: true, gained: 'a0 b0', kept: '', lost: '', why: 'the first join' },
    { before: 'a0 a1', now: 'a0 a2', isContinued: true, gained: 'a2', kept: 'a0', lost: 'a1', why: 'a rebalance' },
    { before: 'a0', now: 'b0', isContinued: true, gained: 'b0', kept: '', lost: 'a0', why: 'another topic' },
    { before: 'a0', now: '', isContinued: true, gained: '', kept: '', lost: 'a0', why: 'everything lost' },
    { before: 'a0 a1', now: 'a0', isContinued: false, gained: 'a0', kept: '', lost: 'a0 a1', why: 'a new member' },
  ])('$why', ({ before, now, isContinued, gained, kept, lost }) => {
    expect(compareAssignments(parse(before), parse(now), isContinued)).toEqual({
      gained: parse(gained),
      kept: parse(kept),
      lost: parse(lost),
    })
  })
})

const none = { memberId: '', generationId: -1 }

test.each([
  ['the next generation', { memberId: 'm', generationId: 4 }, { memberId: 'm', generationId: 5 }, true],
  ['the same one, joined again', { memberId: 'm', generationId: 4 }, { memberId: 'm', generationId: 4 }, true],
  ['one was left out', { memberId: 'm', generationId: 4 }, { memberId: 'm', generationId: 6 }, false],
  ['another member', { memberId: 'm', generationId: 4 }, { memberId: 'n', generationId: 5 }, false],
  ['the membership had ended', none, { memberId: 'm', generationId: 5 }, false],
  ['the group began anew', { memberId: 'm', generationId: 4 }, { memberId: 'n', generationId: 1 }, false],
])('nobody else can have had it in between: %s', (_name, before, now, expected) => {
  expect(continues(before, now)).toBe(expected)
})
