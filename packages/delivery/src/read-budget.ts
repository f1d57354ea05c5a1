/**
 * What a service holds of everything that it has read and not finished, all subscriptions together, in bytes. It bounds
 * reading, not attempts, and leaves each subscription a small share of its own (`createReadGate`), so that those who
 * fill it delay nobody.
 */
export interface ReadBudget {
  add(bytes: number): void
  remove(bytes: number): void
  readonly isFull: boolean
  /** Calls back whenever half of the budget has become free again after it was full. */
  onRoom(listener: () => void): void
  offRoom(listener: () => void): void
}

export function createReadBudget(bytesMax: number): ReadBudget {
  const listeners = new Set<() => void>()
  let bytes = 0
  let wasFull = false

  return {
    add(more) {
      bytes += more
      if (bytes >= bytesMax) wasFull = true
    },
    remove(less) {
      bytes -= less
      if (!wasFull || bytes > bytesMax / 2) return
      wasFull = false
      for (const listener of listeners) listener()
    },
    get isFull() {
      return bytes >= bytesMax
    },
    onRoom: (listener) => void listeners.add(listener),
    offRoom: (listener) => void listeners.delete(listener),
  }
}
