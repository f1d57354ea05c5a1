/**
 * `pnpm chaos`: does harm to running services and checks afterwards that nothing was lost, counted twice or early.
 * See docs/reliability.md.
 */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { faultKinds } from './plan.ts'
import type { FaultKind } from './plan.ts'
import { runChaos } from './run.ts'

const help = `usage: pnpm chaos [options]

Runs dispatchers and retriers as processes on a broker of its own, lets events flow through them, kills, stops, freezes
and disturbs what runs, and checks the ledger of everything that was sent and received.

  --events N          how many events (20000)
  --faults N          how many faults, one every 8 s or so (12)
  --kills N           the same with kill -9 of services and broker alone
  --kinds A,B         only these faults: ${faultKinds.join(', ')}
  --subscriptions N   how many subscriptions share the events (10)
  --dispatchers N     processes (2)
  --retriers N        processes (2)
  --seed N            repeats the plan and the answers of the receiver, not the interleaving (random)
  --ledger FOLDER     where the ledger is kept when something is wrong (.chaos)
  --json              the result as JSON

Exit status 1 when the checker finds something. Example:

  pnpm chaos --events 50000 --kills 20 --seed 7`

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '20000' },
    faults: { type: 'string', default: '12' },
    kills: { type: 'string' },
    kinds: { type: 'string' },
    subscriptions: { type: 'string', default: '10' },
    dispatchers: { type: 'string', default: '2' },
    retriers: { type: 'string', default: '2' },
    seed: { type: 'string' },
    ledger: { type: 'string', default: '.chaos' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(help)
  process.exit(0)
}

const seed = numberOf('seed', values.seed ?? String(Math.floor(Math.random() * 1_000_000)), 0)
const kills: readonly FaultKind[] = ['kill-dispatcher', 'kill-retrier', 'kill-broker']
const kinds = values.kills === undefined ? kindsOf(values.kinds) : kills
const faults = numberOf('faults', values.kills ?? values.faults, 0)
const say = (line: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`)

say(`seed ${seed}`)
const { violations, ledger, summary } = await runChaos({
  seed,
  faults,
  ...(kinds === undefined ? {} : { kinds }),
  events: numberOf('events', values.events, 1),
  subscriptions: numberOf('subscriptions', values.subscriptions, 1),
  dispatchers: numberOf('dispatchers', values.dispatchers, 1),
  retriers: numberOf('retriers', values.retriers, 1),
  say,
})
if (values.json) console.log(JSON.stringify({ seed, ...summary, violations }))
else {
  console.log(
    `${summary.events} events, ${summary.faults} faults, ${summary.seconds} s: ${summary.delivered} delivered, ` +
      `${summary.deadLetters} dead letters, ${summary.attempts} attempts, ${summary.repeatedAttempts} of them again`,
  )
  for (const { id, rule, message } of violations.slice(0, 20)) console.log(`  event ${id}: ${rule}: ${message}`)
  console.log(`${violations.length} violations (seed ${seed})`)
}
if (violations.length > 0) {
  await mkdir(values.ledger, { recursive: true })
  const file = join(values.ledger, `ledger-${seed}.json`)
  await writeFile(file, JSON.stringify({ ...ledger, sent: [...ledger.sent], violations }, null, 1))
  console.error(`the ledger is in ${file}`)
  process.exitCode = 1
}

function numberOf(name: string, text: string, least: number): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < least) {
    refuse(`--${name} is "${text}"; it has to be a whole number of at least ${least}`)
  }
  return number
}

function kindsOf(text: string | undefined): readonly FaultKind[] | undefined {
  return text
    ?.split(',')
    .map(
      (name) =>
        faultKinds.find((kind) => kind === name) ??
        refuse(`--kinds names "${name}"; there are ${faultKinds.join(', ')}`),
    )
}

function refuse(message: string): never {
  console.error(message)
  process.exit(2)
}
