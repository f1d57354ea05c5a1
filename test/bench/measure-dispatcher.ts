import { randomUUID } from 'node:crypto'
import { removeByPrefix } from './backlog.ts'
import { runDispatcher } from './barnabas-process.ts'
import { measure } from './measure.ts'
import type { Measured } from './measure.ts'
import type { Bench } from './scenario.ts'

export const concurrency = 256

/** One dispatcher under a prefix of its own with one subscription to the topic, whose sink answers with this status. */
export async function measureDispatcher(
  { brokers, sink, sinkOrigin, events, profileFolder }: Bench,
  topic: string,
  status: '200' | '503',
  warmUp: number,
): Promise<Measured> {
  const prefix = `bench-${randomUUID()}`
  const subscription = {
    id: 'bench',
    topics: [topic],
    sink: `${sinkOrigin}/${status}`,
    from: 'earliest',
    concurrency,
    // Nothing that failed comes back while it is measured.
    retry: { schedule: ['10m'] },
  }
  const nodeOptions = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`]
  try {
    const running = await runDispatcher({ brokers, prefix, subscriptions: [subscription], nodeOptions })
    try {
      return await measure(sink, running, { warmUp, events })
    } finally {
      await running.stop()
    }
  } finally {
    await removeByPrefix(brokers, prefix)
  }
}
