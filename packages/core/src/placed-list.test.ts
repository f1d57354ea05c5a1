import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPlacedList } from './placed-list.ts'

test('holds what a set would hold, whatever is added and removed, and each member knows its place', () => {
  const action = fc.record({ isAdded: fc.boolean(), which: fc.nat({ max: 9 }) })
  fc.assert(
    fc.property(fc.array(action), (actions) => {
      const members = Array.from({ length: 10 }, (_, name) => ({ name, place: -1 }))
      const list = createPlacedList<(typeof members)[number]>()
      const model = new Set<(typeof members)[number]>()
      for (const { isAdded, which } of actions) {
        const member = members[which]!
        if (isAdded) model.add(member)
        else model.delete(member)
        if (isAdded) list.add(member)
        else list.remove(member)
        const all = list.all()
        expect(new Set(all)).toEqual(model)
        expect(all).toHaveLength(model.size)
        expect(all.map(({ place }) => place)).toEqual(all.map((_, index) => index))
        expect(members.filter((each) => !model.has(each)).every(({ place }) => place === -1)).toBe(true)
      }
    }),
  )
})

test('whoever goes through the members may remove them', () => {
  const list = createPlacedList<{ place: number }>()
  const members = [1, 2, 3].map(() => ({ place: -1 }))
  members.forEach(list.add)
  for (const member of list.all()) list.remove(member)
  expect(list.all()).toEqual([])
})
