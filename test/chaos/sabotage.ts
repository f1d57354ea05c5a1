/**
 * Engines that are broken on purpose, to try the checker on: preloaded into the services of a run
 * (`NODE_OPTIONS=--import …/sabotage.ts`), each changes one line of the product as it is loaded. `BARNABAS_SABOTAGE`
 * would be a name of the product's own, so the kind stands in the query of the import.
 */
import { registerHooks } from 'node:module'

interface Sabotage {
  readonly file: string
  readonly line: string
  readonly becomes: string
}

const write = 'const written = await writers.write(retryRecords(parcel, verdict.dueAt, to), owner)'
const readState = 'const state = options.stateOf?.(retry, decoded.state) ?? decoded.state'

const sabotages: Readonly<Record<string, readonly Sabotage[]>> = {
  /** One in a thousand events that should wait for a retry is forgotten. */
  drops: [
    {
      file: 'packages/delivery/src/carry-out.ts',
      line: write,
      becomes: `if (parcel.state.source.offset % 1000 === 7) return { kind: 'durable', wroteRecord: true, verdict }; ${write}`,
    },
  ],
  /** For eight seconds after a rebalance the retrier believes that every event was attempted once. */
  resets: [
    {
      file: 'packages/delivery/src/tracked-consumer.ts',
      line: 'onAssigned(assignment) {',
      becomes: `onAssigned(assignment) { const joins = globalThis as any; joins.rejoinedAt = joins.joined ? Date.now() : 0; joins.joined = true;`,
    },
    {
      file: 'packages/delivery/src/retry-handle.ts',
      line: readState,
      becomes: `${readState}; if (Date.now() - (globalThis as any).rejoinedAt < 8_000) (state as any).attempts = 1`,
    },
  ],
  /** One in fifty retry records is written twice, each as if it had moved on by itself. */
  doubles: [
    {
      file: 'packages/delivery/src/carry-out.ts',
      line: write,
      becomes: `if (parcel.state.source.offset % 50 === 7) await writers.write(retryRecords({ ...parcel, state: { ...parcel.state, hops: parcel.state.hops + 100 } }, verdict.dueAt, to), owner); ${write}`,
    },
  ],
  /** A key waits for nothing. */
  unordered: [
    {
      file: 'services/dispatcher/handle.ts',
      line: "return order === 'key' && key !== null ? key.toString('latin1') : null",
      becomes: "return order === 'key' && key !== null ? null : null",
    },
  ],
}

const kind = new URL(import.meta.url).searchParams.get('kind') ?? ''
const chosen = sabotages[kind]
if (chosen === undefined) throw new Error(`no sabotage "${kind}"`)

registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context)
    const own = chosen.filter(({ file }) => url.endsWith(file))
    if (own.length === 0) return loaded
    if (loaded.source === undefined) throw new Error(`${url} was not loaded as text`)
    let source = Buffer.from(loaded.source as Uint8Array).toString()
    for (const { line, becomes, file } of own) {
      // What was changed meanwhile would make an engine that is whole, and a checker that finds nothing in it.
      if (!source.includes(line)) throw new Error(`${file} has no line "${line}" to be sabotaged`)
      source = source.replace(line, becomes)
    }
    return { ...loaded, source }
  },
})
