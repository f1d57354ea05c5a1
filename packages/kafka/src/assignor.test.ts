import { describe, expect, test } from 'vitest'
import { decodeClaim, encodeClaim } from './assignor-protocol.ts'
import { assignPartitions } from './assignor.ts'
import type { GroupMember } from './assignor.ts'

type Claims = Readonly<Record<string, readonly number[]>>

function member(memberId: string, topics: string, owned: Claims = {}, ownedGeneration = -1): GroupMember {
  const partitions = Object.entries(owned).flatMap(([topic, numbers]) =>
    numbers.map((partition) => ({ topic, partition })),
  )
  return { memberId, topics: topics.split(' '), owned: partitions, ownedGeneration }
}

/** `m1: a0 a1 | m2: b0` */
function divide(members: readonly GroupMember[], counts: Readonly<Record<string, number>>): string {
  return [...assignPartitions(members, new Map(Object.entries(counts)))]
    .map(([id, partitions]) => `${id}: ${partitions.map(({ topic, partition }) => `${topic}${partition}`).join(' ')}`)
    .join(' | ')
}

describe('assignPartitions', () => {
  test.each<{ rule: string; members: GroupMember[]; counts: Record<string, number>; divided: string }>([
    {
      rule: 'a lone member gets everything',
      members: [member('m1', 'a b')],
      counts: { a: 2, b: 1 },
      divided: 'm1: a0 a1 b0',
    },
    {
      rule: 'a new group is dealt out evenly, within each topic too',
      members: [member('m2', 'a b'), member('m1', 'a b')],
      counts: { a: 4, b: 2 },
      divided: 'm1: a0 a2 b0 | m2: a1 a3 b1',
    },
    {
      rule: 'more members than partitions: the rest get none',
      members: [member('m1', 'a'), member('m2', 'a')],
      counts: { a: 1 },
      divided: 'm1: a0 | m2: ',
    },
    {
      rule: 'a topic that only one member reads goes to that member, whoever leads',
      members: [member('m1', 'a', { a: [0, 1] }, 1), member('m2', 'a b')],
      counts: { a: 2, b: 2 },
      divided: 'm1: a0 a1 | m2: b0 b1',
    },
    {
      rule: 'a joining member takes half, and no more moves',
      members: [member('m1', 'a b', { a: [0, 1, 2, 3], b: [0, 1, 2, 3] }, 7), member('m2', 'a b')],
      counts: { a: 4, b: 4 },
      divided: 'm1: a0 a1 b0 b1 | m2: a2 a3 b2 b3',
    },
    {
      rule: 'the rest keep what they have when a member leaves',
      members: [member('m1', 'a', { a: [0, 4] }, 3), member('m3', 'a', { a: [2, 5] }, 3)],
      counts: { a: 6 },
      divided: 'm1: a0 a1 a4 | m3: a2 a3 a5',
    },
    {
      rule: 'a claim from an older generation is not believed',
      members: [member('m1', 'a', { a: [0, 1] }, 4), member('m2', 'a', { a: [0] }, 5)],
      counts: { a: 2 },
      divided: 'm1: a1 | m2: a0',
    },
    {
      rule: 'claims to what is not subscribed, does not exist or is said twice count for nothing',
      members: [member('m1', 'a', { a: [0, 0, 9], b: [0], c: [0] }, 1), member('m2', 'b', {}, 1)],
      counts: { a: 1, b: 1 },
      divided: 'm1: a0 | m2: b0',
    },
    {
      rule: 'a missing topic is left out',
      members: [member('m1', 'a gone')],
      counts: { a: 1, gone: 0 },
      divided: 'm1: a0',
    },
    {
      rule: 'new partitions go to whoever has least',
      members: [member('m1', 'a', { a: [0, 1] }, 2), member('m2', 'a', { a: [2] }, 2)],
      counts: { a: 4 },
      divided: 'm1: a0 a1 | m2: a2 a3',
    },
  ])('$rule', ({ members, counts, divided }) => {
    expect(divide(members, counts)).toBe(divided)
    expect(divide(members.toReversed(), counts)).toBe(divided)
  })

  test('joins and leaves in a row: always complete, within one of each other, and few move', () => {
    const counts = new Map(Array.from({ length: 22 }, (_, tier) => [`tier-${tier}`, 8] as const))
    const topics = [...counts.keys()]
    let held = new Map<string, readonly { topic: string; partition: number }[]>()
    let generation = 0
    for (const ids of [['a'], ['a', 'b'], ['a', 'b', 'c'], ['b', 'c'], ['b', 'c', 'd', 'e'], ['e']]) {
      const members = ids.map((memberId) => ({
        memberId,
        topics,
        owned: held.get(memberId) ?? [],
        ownedGeneration: held.has(memberId) ? generation : -1,
      }))
      const next = assignPartitions(members, counts)
      const names = [...next.values()].flat().map(({ topic, partition }) => `${topic}/${partition}`)
      expect(new Set(names).size).toBe(22 * 8)
      expect(names).toHaveLength(22 * 8)
      const sizes = [...next.values()].map((share) => share.length)
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1)
      for (const [memberId, before] of held) {
        const now = next.get(memberId)
        if (now === undefined) continue
        const nowNames = new Set(now.map(({ topic, partition }) => `${topic}/${partition}`))
        const keptCount = before.filter(({ topic, partition }) => nowNames.has(`${topic}/${partition}`)).length
        expect(keptCount).toBe(Math.min(before.length, now.length))
      }
      held = new Map(next)
      generation += 1
    }
  })
})

describe('the claim that a member sends when it joins', () => {
  test('comes back as it was sent', () => {
    const claim = {
      ownedGeneration: 3,
      owned: [
        { topic: 'a', partition: 0 },
        { topic: 'a', partition: 2 },
      ],
    }
    expect(decodeClaim(encodeClaim(claim))).toEqual(claim)
  })

  test.each([undefined, Buffer.alloc(0), Buffer.from('{"generation":'), Buffer.from('{}')])(
    'that cannot be read claims nothing',
    (userData) => {
      expect(decodeClaim(userData)).toEqual({ ownedGeneration: -1, owned: [] })
    },
  )
})
