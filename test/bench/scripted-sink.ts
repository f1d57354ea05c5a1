import { runBenchProcess } from './bench-process.ts'
import type { Tally } from './sink-answers.ts'

/** The sink that answers as the path of a request says (`sink-answers.ts`). */
export interface ScriptedSink {
  readonly origin: string
  /** A path of this kind that nobody has used. */
  newPath(kind: string): string
  /** What arrived at the path so far, without the times. */
  tally(path: string): Promise<Tally>
  tallyWithTimes(path: string): Promise<Tally>
  stop(): Promise<void>
}

export async function startScriptedSink(): Promise<ScriptedSink> {
  const running = runBenchProcess('test/bench/sink.ts')
  const port = await running.ask<number>()
  let paths = 0
  return {
    origin: `http://127.0.0.1:${port}`,
    newPath(kind) {
      paths += 1
      return `/${kind}/${paths}`
    },
    tally: (path) => running.ask<Tally>({ path, withTimes: false }),
    tallyWithTimes: (path) => running.ask<Tally>({ path, withTimes: true }),
    stop: () => running.stop(),
  }
}
