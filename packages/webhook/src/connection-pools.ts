import { Pool, type buildConnector } from 'undici'

/** The right to use one connection of a pool, until `release` is called. */
export interface Slot {
  readonly pool: Pool
  release(): void
}

export interface ConnectionPools {
  /**
   * Waits in turn for one of `connectionsMax` slots of this subscription at this origin; null when `signal` is aborted
   * or the pools are closed before it is there.
   */
  acquire(subscriptionId: string, origin: string, connectionsMax: number, signal: AbortSignal): Promise<Slot | null>
  /** How many pools there are: none is kept for a destination without connections and attempts. */
  readonly size: number
  close(): Promise<void>
}

// Idle connections end before usual receivers end theirs (Node 5 s, others 15 s and more), because a request that meets
// a closing connection fails. A receiver that announces another time is believed, up to the second limit.
const keepAliveTimeoutMs = 4_000
const keepAliveTimeoutMsMax = 30_000

interface Destination {
  readonly pool: Pool
  connectionsMax: number
  /** Slots that are taken. */
  active: number
  /** Whoever waits for a slot, first come first served: told `true` with a slot, `false` when there will be none. */
  readonly waiting: ((admitted: boolean) => void)[]
}

/**
 * One pool per subscription and origin, so that no subscription takes connections from another (design, promise 8).
 * The pools themselves know no limit, slots are the limit: an attempt waits for its turn before its clock starts,
 * instead of spending its time in a queue and being called a time-out of the receiver.
 */
export function connectionPools(connect: buildConnector.connector): ConnectionPools {
  const destinations = new Map<string, Destination>()
  let closed = false

  const open = (key: string, origin: string): Destination => {
    const pool = new Pool(origin, {
      connect,
      allowH2: false,
      connections: null,
      pipelining: 1,
      // The attempt's own deadline is exact; undici's timers are not.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveTimeoutMs,
      keepAliveMaxTimeout: keepAliveTimeoutMsMax,
      maxHeaderSize: 16_384,
    })
    const destination: Destination = { pool, connectionsMax: 0, active: 0, waiting: [] }
    destinations.set(key, destination)
    pool.on('disconnect', () => removeIfIdle(key, destination))
    return destination
  }

  const removeIfIdle = (key: string, destination: Destination): void => {
    const isIdle =
      destination.active === 0 && destination.waiting.length === 0 && destination.pool.stats.connected === 0
    if (!isIdle || destinations.get(key) !== destination) return
    destinations.delete(key)
    void destination.pool.destroy()
  }

  const slotOf = (key: string, destination: Destination): Slot => {
    let released = false
    return {
      pool: destination.pool,
      release() {
        if (released) return
        released = true
        destination.active--
        admit(destination)
        removeIfIdle(key, destination)
      },
    }
  }

  return {
    async acquire(subscriptionId, origin, connectionsMax, signal) {
      if (closed || signal.aborted) return null
      const key = `${subscriptionId} ${origin}`
      const destination = destinations.get(key) ?? open(key, origin)
      destination.connectionsMax = connectionsMax
      const admitted = admission(destination, signal)
      admit(destination)
      return (await admitted) ? slotOf(key, destination) : null
    },
    get size() {
      return destinations.size
    },
    async close() {
      closed = true
      const all = [...destinations.values()]
      destinations.clear()
      for (const { waiting } of all) for (const tell of waiting.splice(0)) tell(false)
      await Promise.all(all.map(({ pool }) => pool.destroy()))
    },
  }
}

function admit(destination: Destination): void {
  while (destination.active < destination.connectionsMax) {
    const tell = destination.waiting.shift()
    if (tell === undefined) return
    destination.active++
    tell(true)
  }
}

/** Queues for a slot; false once `signal` is aborted. */
function admission(destination: Destination, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const leave = (): void => {
      destination.waiting.splice(destination.waiting.indexOf(tell), 1)
      resolve(false)
    }
    const tell = (admitted: boolean): void => {
      signal.removeEventListener('abort', leave)
      resolve(admitted)
    }
    destination.waiting.push(tell)
    signal.addEventListener('abort', leave, { once: true })
  })
}
