import type { Socket } from 'node:net'
import { Client } from 'undici'
import type { buildConnector } from 'undici'

/** The right to use one connection, until `release` or `discard` is called. */
export interface Slot {
  /** A pool of exactly one connection, which nobody else uses meanwhile. */
  readonly pool: Client
  /** What was asked is answered: the connection may serve the next. */
  release(): void
  /** Something went wrong or was cut off: the connection, even one that is still being made, is given up. */
  discard(): void
  /** The place is free for another attempt; the connection stays until what is given back is called. */
  letGo(): () => void
}

export interface ConnectionPools {
  /** One of `connectionsMax` slots of this subscription at this origin, null when it has to wait for its turn. */
  take(subscriptionId: string, origin: string, connectionsMax: number): Slot | null
  /**
   * Waits in turn for a slot; null when `signal` is aborted or the pools are closed before it is there.
   */
  acquire(subscriptionId: string, origin: string, connectionsMax: number, signal: AbortSignal): Promise<Slot | null>
  /** How many destinations there are: none is kept without connections and attempts. */
  readonly size: number
  close(): Promise<void>
}

// Idle connections end before usual receivers end theirs (Node 5 s, others 15 s and more), because a request that meets
// a closing connection fails. A receiver that announces another time is believed, up to the second limit.
const keepAliveTimeoutMs = 4_000
const keepAliveTimeoutMsMax = 30_000

interface Destination {
  readonly key: string
  readonly origin: string
  connectionsMax: number
  /** Slots that are taken. */
  active: number
  /** Connections that nobody uses; the last used is the next taken, so that those beyond the need grow old and end. */
  readonly idle: Connection[]
  /** Whoever waits for a slot, first come first served: told whether there is one. */
  readonly waiting: ((admitted: boolean) => void)[]
}

interface Connection {
  readonly client: Client
  /** The socket that was made last, from the moment on when it is being connected. */
  socket: Socket | undefined
  isConnected: boolean
}

/**
 * Connections per subscription and origin, so that no subscription takes one from another (design, promise 8). Slots
 * are the limit: an attempt waits for its turn before its clock starts, instead of spending its time in a queue and
 * being called a time-out of the receiver.
 *
 * One undici `Client` per connection and a list of the free ones, instead of undici's `Pool`: that looks for a free
 * client by asking one after the other, which with hundreds of connections costs more than the request itself
 * (docs/performance.md).
 */
export function connectionPools(connect: buildConnector.connector): ConnectionPools {
  const destinations = new Map<string, Destination>()
  const connections = new Set<Connection>()
  let closed = false

  function destinationOf(subscriptionId: string, origin: string, connectionsMax: number): Destination {
    const key = `${subscriptionId} ${origin}`
    let destination = destinations.get(key)
    if (destination === undefined) {
      destination = { key, origin, connectionsMax, active: 0, idle: [], waiting: [] }
      destinations.set(key, destination)
    }
    destination.connectionsMax = connectionsMax
    return destination
  }

  function open(destination: Destination): Connection {
    const connector: buildConnector.connector = (options, callback) => {
      const socket: unknown = connect(options, callback)
      connection.socket = socket as Socket | undefined
      return socket
    }
    const client = new Client(destination.origin, {
      connect: connector,
      allowH2: false,
      pipelining: 1,
      // The attempt's own deadline is exact; undici's timers are not.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: keepAliveTimeoutMs,
      keepAliveMaxTimeout: keepAliveTimeoutMsMax,
      maxHeaderSize: 16_384,
    })
    const connection: Connection = { client, socket: undefined, isConnected: false }
    connections.add(connection)
    client.on('connect', () => (connection.isConnected = true))
    client.on('disconnect', () => {
      connection.isConnected = false
      const index = destination.idle.indexOf(connection)
      // One that is in use makes itself a new socket for its next request.
      if (index < 0) return
      destination.idle.splice(index, 1)
      end(connection)
      removeIfIdle(destination)
    })
    return connection
  }

  function end(connection: Connection): void {
    connections.delete(connection)
    const { client, socket, isConnected } = connection
    // A socket that is still being connected is none of the client's yet.
    if (!isConnected) socket?.destroy()
    // Not at once, because undici's own callbacks, from which this may be called, go on with their client.
    setImmediate(() => void client.destroy())
  }

  function removeIfIdle(destination: Destination): void {
    const isIdle = destination.active === 0 && destination.waiting.length === 0 && destination.idle.length === 0
    if (isIdle && destinations.get(destination.key) === destination) destinations.delete(destination.key)
  }

  function giveBack(destination: Destination, connection: Connection, keep: boolean): void {
    if (keep && !closed) destination.idle.push(connection)
    else end(connection)
    destination.active--
    admit(destination)
    removeIfIdle(destination)
  }

  function letGo(destination: Destination, connection: Connection): () => void {
    destination.active--
    admit(destination)
    removeIfIdle(destination)
    return () => end(connection)
  }

  const owner: SlotOwner = { giveBack, letGo }

  /** For one of the destination's `active`. */
  function slotOf(destination: Destination): Slot {
    return new OneSlot(destination, destination.idle.pop() ?? open(destination), owner)
  }

  return {
    take(subscriptionId, origin, connectionsMax) {
      if (closed) return null
      const destination = destinationOf(subscriptionId, origin, connectionsMax)
      if (destination.active >= connectionsMax || destination.waiting.length > 0) return null
      destination.active++
      return slotOf(destination)
    },
    async acquire(subscriptionId, origin, connectionsMax, signal) {
      if (closed || signal.aborted) return null
      const destination = destinationOf(subscriptionId, origin, connectionsMax)
      const admitted = admission(destination, signal)
      admit(destination)
      return (await admitted) ? slotOf(destination) : null
    },
    get size() {
      return destinations.size
    },
    async close() {
      closed = true
      const waiting = [...destinations.values()].flatMap((destination) => destination.waiting.splice(0))
      destinations.clear()
      for (const tell of waiting) tell(false)
      const clients = [...connections].map(({ client }) => client)
      for (const connection of connections) end(connection)
      await Promise.all(clients.map((client) => client.destroy()))
    },
  }
}

interface SlotOwner {
  giveBack(destination: Destination, connection: Connection, keep: boolean): void
  letGo(destination: Destination, connection: Connection): () => void
}

/** A class, because there is one per attempt and closures of its own would be several objects more. */
class OneSlot implements Slot {
  readonly #destination: Destination
  readonly #connection: Connection
  #owner: SlotOwner | null

  constructor(destination: Destination, connection: Connection, owner: SlotOwner) {
    this.#destination = destination
    this.#connection = connection
    this.#owner = owner
  }

  get pool(): Client {
    return this.#connection.client
  }

  release(): void {
    this.#end(this.#connection.isConnected)
  }

  discard(): void {
    this.#end(false)
  }

  letGo(): () => void {
    const owner = this.#owner
    this.#owner = null
    return owner?.letGo(this.#destination, this.#connection) ?? (() => {})
  }

  #end(keep: boolean): void {
    const owner = this.#owner
    this.#owner = null
    owner?.giveBack(this.#destination, this.#connection, keep)
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
