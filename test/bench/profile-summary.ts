/**
 * Where a CPU profile's time went: `node test/bench/profile-summary.ts file.cpuprofile [lines]`. Self time by origin
 * (package or Node's internals), then by function.
 */
import { readFile } from 'node:fs/promises'

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const [file = '', lines = '40'] = process.argv.slice(2)
const profile = JSON.parse(await readFile(file, 'utf8')) as Profile
const micros = new Map<number, number>()
profile.samples.forEach((id, index) => micros.set(id, (micros.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0)))

const byOrigin = new Map<string, number>()
const byFunction = new Map<string, number>()
let busyMicros = 0
for (const { id, callFrame } of profile.nodes) {
  const { functionName, url, lineNumber } = callFrame
  if (functionName === '(idle)' || functionName === '(root)') continue
  const self = micros.get(id) ?? 0
  busyMicros += self
  const origin = originOf(functionName, url)
  byOrigin.set(origin, (byOrigin.get(origin) ?? 0) + self)
  const name = `${functionName || '(anonymous)'} ${url.replace(/^.*\/(node_modules|main)\//, '')}:${lineNumber + 1}`
  byFunction.set(name, (byFunction.get(name) ?? 0) + self)
}
print(byOrigin, 20)
print(byFunction, Number(lines))

function originOf(functionName: string, url: string): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'native'
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/')
  const library = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
  return library ?? /\/((?:packages|services)\/[^/]+)/.exec(url)?.[1] ?? url
}

function print(figures: ReadonlyMap<string, number>, linesMax: number): void {
  const sorted = [...figures].toSorted(([, a], [, b]) => b - a).slice(0, linesMax)
  for (const [name, self] of sorted) console.log(`${((self / busyMicros) * 100).toFixed(1).padStart(5)} %  ${name}`)
  console.log()
}
