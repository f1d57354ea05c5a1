/**
 * `pnpm chaos`: does harm to running services and checks afterwards that nothing was lost, counted twice, early or out of
 * its order.
 * See docs/reliability.md.
 */
import { parseArgs } from 'node:util'
import { keepRun } from './keep.ts'
import { findToxiproxy } from './network.ts'
import { faultKinds, isNetworkFault, networkFaultKinds } from './plan.ts'
import type { FaultKind } from './plan.ts'
import { runChaos } from './run.ts'
import type { ChaosOrder } from './subscriptions.ts'

const help = `usage: pnpm chaos [options]

Runs dispatchers, retriers and a dead-letter service as processes on a broker of its own, lets events flow through them, kills, stops, freezes
and disturbs what runs, and checks the ledger of everything that was sent and received.

  --events N          how many events (20000)
  --faults N          how many faults, one every 8 s or so (12)
  --kills N           the same with kill -9 of services and broker alone
  --kinds A,B         only these faults:
                        ${faultKinds.join(', ')}
                        of the network (they take toxiproxy, which is built with Go when Go is there):
                        ${networkFaultKinds.join(', ')}
  --brokers 1|3       3: replication 3, of which 2 must have a write; one of them is killed at a time (1)
  --subscriptions N   how many subscriptions share the events (10)
  --batched N         how many of them send up to five events in a request (3)
  --order key|partition
                      those that have one event in a request deliver in this order, and it is checked (none)
  --dispatchers N     processes (2)
  --retriers N        processes (2)
  --seed N            repeats the plan and the answers of the receiver, not the interleaving (random)
  --ledger FOLDER     where the ledger is kept when something is wrong (.chaos)
  --keep              it is kept in any case
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
    batched: { type: 'string', default: '3' },
    order: { type: 'string' },
    brokers: { type: 'string', default: '1' },
    dispatchers: { type: 'string', default: '2' },
    retriers: { type: 'string', default: '2' },
    seed: { type: 'string' },
    ledger: { type: 'string', default: '.chaos' },
    keep: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log(help)
  process.exit(0)
}

const seed = numberOf('seed', values.seed ?? String(Math.floor(Math.random() * 1_000_000)), 0)
const kills: readonly FaultKind[] = ['kill-dispatcher', 'kill-retrier', 'kill-dead-letter', 'kill-broker']
if (values.brokers !== '1' && values.brokers !== '3') refuse(`--brokers is "${values.brokers}"; it has to be 1 or 3`)
const wished = values.kills === undefined ? kindsOf(values.kinds) : kills
const faults = numberOf('faults', values.kills ?? values.faults, 0)
const say = (line: string): void => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`)

say(`seed ${seed}`)
const toxiproxy = (wished ?? networkFaultKinds).some(isNetworkFault) ? await findToxiproxy(say) : null
const kinds = wished ?? [...faultKinds, ...(toxiproxy === null ? [] : networkFaultKinds)]
if (toxiproxy === null && kinds.some(isNetworkFault)) refuse('faults of the network take toxiproxy, and that takes Go')
if (toxiproxy === null && wished === undefined) say('no faults of the network: there is no Go to build toxiproxy with')
const result = await runChaos({
  seed,
  faults,
  kinds,
  brokers: Number(values.brokers),
  toxiproxy,
  events: numberOf('events', values.events, 1),
  subscriptions: numberOf('subscriptions', values.subscriptions, 1),
  batched: numberOf('batched', values.batched, 0),
  order: orderOf(values.order),
  dispatchers: numberOf('dispatchers', values.dispatchers, 1),
  retriers: numberOf('retriers', values.retriers, 1),
  say,
})
const { violations, summary } = result
if (values.json) console.log(JSON.stringify({ seed, ...summary, violations }))
else {
  console.log(
    `${summary.events} events, ${summary.orderedEvents} of them in an order, ${summary.faults} faults, ${summary.seconds} s: ${summary.delivered} delivered, ` +
      `${summary.deadLetters} dead letters, ${summary.attempts} attempts, ${summary.repeatedAttempts} of them again, ` +
      `${summary.sharedAttempts} in a request with others`,
  )
  const after = Object.entries(summary.repeatedAfter).map(([kind, count]) => `${count} after ${kind}`)
  if (after.length > 0) console.log(`again: ${after.join(', ')}`)
  for (const { id, rule, message } of violations.slice(0, 20)) {
    console.log(`  ${id === null ? '' : `event ${id}: `}${rule}: ${message}`)
  }
  console.log(`${violations.length} violations (seed ${seed})`)
}
if (violations.length > 0 || values.keep) {
  console.error(`the ledger and the logs of the services are in ${await keepRun(values.ledger, seed, result)}`)
}
if (violations.length > 0) process.exitCode = 1

function numberOf(name: string, text: string, least: number): number {
  const number = Number(text)
  if (!Number.isSafeInteger(number) || number < least) {
    refuse(`--${name} is "${text}"; it has to be a whole number of at least ${least}`)
  }
  return number
}

function kindsOf(text: string | undefined): readonly FaultKind[] | undefined {
  const all: readonly FaultKind[] = [...faultKinds, ...networkFaultKinds]
  return text
    ?.split(',')
    .map((name) => all.find((kind) => kind === name) ?? refuse(`--kinds names "${name}"; there are ${all.join(', ')}`))
}

function orderOf(text: string | undefined): ChaosOrder | undefined {
  if (text === undefined || text === 'key' || text === 'partition') return text
  return refuse(`--order is "${text}"; it has to be key or partition`)
}

function refuse(message: string): never {
  console.error(message)
  process.exit(2)
}
