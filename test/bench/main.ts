/** `pnpm bench`: what a delivery costs, beside what it costs without Barnabas. See docs/performance.md. */
import { cpus } from 'node:os'
import { helpText, readArguments } from './arguments.ts'
import { canPin, pinnedCore } from './bench-process.ts'
import { benchBroker } from './broker.ts'
import { startCountingSink } from './counting-sink.ts'
import { judge } from './figure.ts'
import type { Bench, ScenarioResult } from './scenario.ts'
import { scenarios } from './scenarios.ts'
import { startScriptedSink } from './scripted-sink.ts'
import { tableText } from './table.ts'

const titles = Object.fromEntries(Object.entries(scenarios).map(([name, { title }]) => [name, title]))
const parsed = readArguments(process.argv.slice(2), titles)
if (parsed.kind === 'help') {
  console.log(helpText(titles))
  process.exit(0)
}
if (parsed.kind === 'wrong') {
  console.error(`${parsed.message}\n\`pnpm bench --help\` says what there is`)
  process.exit(2)
}
if (process.platform !== 'linux') {
  console.error('the bench reads CPU and memory from /proc: it runs on Linux only')
  process.exit(2)
}

const options = parsed.arguments
const say = (line: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`)
const broker = await benchBroker(say)
const scriptedSink = await startScriptedSink()
const sink = await startCountingSink(scriptedSink)
try {
  const { size, profileFolder } = options
  const bench: Bench = { brokers: broker.brokers, sink, scriptedSink, size, profileFolder, say }
  const results: ScenarioResult[] = []
  for (const name of options.scenarios) {
    const { title, run } = scenarios[name]!
    say(`${name}: ${title}`)
    results.push(await run(bench))
  }
  report(
    results.flatMap(({ figures }) => figures),
    results.flatMap(({ counts }) => counts),
  )
} finally {
  await sink.stop()
  await scriptedSink.stop()
  await broker.stop()
}

function report(figures: ScenarioResult['figures'], counts: ScenarioResult['counts']): void {
  const about = {
    date: new Date().toISOString(),
    machine: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown CPU'}`,
    node: process.versions.node,
    pinned: canPin ? `measured processes pinned to core ${pinnedCore}` : 'nothing pinned: no taskset here',
    sink: sink.name,
  }
  const wrong = counts.filter(({ expected, actual }) => expected !== actual)
  if (options.json) {
    const judged = figures.map((figure) => ({ ...figure, ...judge(figure), baseline: figure.baseline }))
    console.log(JSON.stringify({ ...about, size: options.size, figures: judged, counts }))
  } else {
    console.log(`${about.date}; ${about.machine}, Node ${about.node}; ${about.pinned}`)
    console.log(`sink: ${about.sink}, a process of its own; for S2, S3, S5, S6 and S10 the raw node:net server`)
    console.log(
      `medians of ${options.size.rounds} rounds, compared round by round (S6 and S7: one; S10: the longest wait of all)\n`,
    )
    console.log(tableText(figures))
  }
  for (const { what, expected, actual } of wrong) console.error(`${what}: ${actual}, expected ${expected}`)
  if (wrong.length > 0) process.exitCode = 1
}
