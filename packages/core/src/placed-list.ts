/** Knows where it stands in the one `PlacedList` that it may be in. */
export interface Placed {
  /** Only the list sets it; -1 while it stands in none. */
  place: number
}

/**
 * What is under way, in no order: added and removed in constant time, thousands of times a second.
 *
 * A `Set` would be simpler and costs the garbage collector dearly. Whenever it is full of what was deleted, V8 makes it a
 * new table; the old one goes on pointing to all that was in it, and to the new one. As soon as one such table is old, the
 * young generation takes everything that any later one ever held for alive, with all that hangs on it, until the next
 * full collection (docs/performance.md).
 */
export interface PlacedList<Member extends Placed> {
  /** Does nothing when it is there already. */
  add(member: Member): void
  /** Does nothing when it is not there. */
  remove(member: Member): void
  /** Those of this moment: a copy, so that its reader may add and remove. */
  all(): readonly Member[]
}

export function createPlacedList<Member extends Placed>(): PlacedList<Member> {
  const members: Member[] = []

  return {
    add(member) {
      if (member.place < 0) member.place = members.push(member) - 1
    },
    remove(member) {
      const { place } = member
      if (place < 0) return
      member.place = -1
      const last = members.pop()
      if (last === undefined || last === member) return
      members[place] = last
      last.place = place
    },
    all: () => members.slice(),
  }
}
