/** Whose a record is: the partition that it was read from. What is no longer ours is not ours to write for. */
export interface Owner {
  /** True for good once a rebalance took it away, or may have: no heartbeat was acknowledged within the session time-out. */
  readonly lost: boolean
  /** While the group is being joined anew it is not known whether it is still ours: resolves when that is known. */
  readonly settled: Promise<void> | undefined
}
