/**
 * `pnpm bench`: what a delivery costs, beside what it costs without Barnabas. See docs/performance.md.
 *
 *   pnpm bench [S1] [S4] [--json] [--events 100000] [--rounds 3] [--cpu-prof folder]
 */
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import { canPin, pinnedCore, runBenchProcess } from './bench-process.ts'
import { benchBroker } from './broker.ts'
import { failingSink } from './failing-sink.ts'
import { healthySink } from './healthy-sink.ts'
import type { Bench, ScenarioResult } from './scenario.ts'
import { tableRows, tableText } from './table.ts'

const scenarios: Record<string, (bench: Bench) => Promise<ScenarioResult>> = { S1: healthySink, S4: failingSink }

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    events: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '3' },
    'cpu-prof': { type: 'string' },
  },
})
const chosen = positionals.length > 0 ? positionals : Object.keys(scenarios)
const unknown = chosen.filter((name) => scenarios[name] === undefined)
if (unknown.length > 0) {
  console.error(`no scenario ${unknown.join(', ')}; there are ${Object.keys(scenarios).join(', ')}`)
  process.exit(2)
}
if (process.platform !== 'linux') {
  console.error('the bench reads CPU and memory from /proc: it runs on Linux only')
  process.exit(2)
}

const say = (line: string): void => console.error(line)
const broker = await benchBroker(say)
const sink = runBenchProcess('test/bench/sink.ts')
try {
  const sinkOrigin = `http://127.0.0.1:${await sink.ask()}`
  const bench: Bench = {
    brokers: broker.brokers,
    sink,
    sinkOrigin,
    rounds: Number(options.rounds),
    events: Number(options.events),
    profileFolder: options['cpu-prof'],
    say,
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}, Node ${process.versions.node}`
  const pinned = canPin ? `pinned to core ${pinnedCore}` : 'not pinned: no taskset here'
  const results: ScenarioResult[] = []
  for (const name of chosen) results.push(await scenarios[name]!(bench))
  const rows = results.flatMap(tableRows)
  const date = new Date().toISOString()
  if (options.json) console.log(JSON.stringify({ date, machine, pinned: canPin, sink: 'raw node:net', rows, results }))
  else {
    console.log(`${machine}; measured processes ${pinned}; sink: raw node:net server, a process of its own; ${date}`)
    console.log(`medians of ${bench.rounds} rounds of ${bench.events} events; ratios round by round\n`)
    console.log(tableText(rows))
  }
} finally {
  await sink.stop()
  await broker.stop()
}
