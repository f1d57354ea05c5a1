import { describe, expect, test } from 'vitest'
import { compareAssignments } from './assignment-change.ts'

/** 'a0 b1' */
function parse(text: string): { topic: string; partition: number }[] {
  return text
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => ({ topic: name.slice(0, 1), partition: Number(name.slice(1)) }))
}

describe('compareAssignments', () => {
  test.each([
    { before: '', now: 'a0 b0', continues: true, gained: 'a0 b0', kept: '', lost: '', why: 'the first join' },
    { before: 'a0 a1', now: 'a0 a2', continues: true, gained: 'a2', kept: 'a0', lost: 'a1', why: 'a rebalance' },
    { before: 'a0', now: 'b0', continues: true, gained: 'b0', kept: '', lost: 'a0', why: 'another topic' },
    { before: 'a0', now: '', continues: true, gained: '', kept: '', lost: 'a0', why: 'everything lost' },
    { before: 'a0 a1', now: 'a0', continues: false, gained: 'a0', kept: '', lost: 'a0 a1', why: 'a new member' },
  ])('$why', ({ before, now, continues, gained, kept, lost }) => {
    expect(compareAssignments(parse(before), parse(now), continues)).toEqual({
      gained: parse(gained),
      kept: parse(kept),
      lost: parse(lost),
    })
  })
})
