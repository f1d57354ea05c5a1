import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { deadLetterRecords } from '@barnabas/core'
import { withBacklog } from './backlog.ts'
import { commandLine, withBarnabas } from './barnabas-process.ts'
import { residentBytesOf } from './bench-process.ts'
import { benchRecord } from './events.ts'
import type { BenchRecord } from './events.ts'
import type { Scenario } from './scenario.ts'
import { median } from './statistics.ts'

const lookEveryMs = 50
const publishTime = Date.parse('2026-01-01T00:00:00.000Z')

interface Redriven {
  readonly sent: number
  readonly alreadySent: number
  /** From the first dead letter that was read to the last transaction. */
  readonly seconds: number
}

/** S14: dead letters sent again (row B8): how many a second, and in what memory. No service runs: nothing is attempted. */
export const redrive: Scenario = async (bench) => {
  const { size, brokers, say } = bench
  return await withBacklog(
    bench,
    size.redriven,
    ({ topic }) =>
      withBarnabas(
        bench,
        {
          services: [],
          subscriptions: [{ id: 'bench', topics: [topic], sink: 'https://example.com/hook' }],
          isPinned: false,
        },
        async ({ prefix }) => {
          const run = async () => {
            const args = ['dead-letters', 'redrive', '--topic', topic, '--to', 'bench', '-o', 'json']
            const { PATH = '', HOME = '' } = process.env
            const child = spawn(process.execPath, [commandLine, ...args], {
              env: { PATH, HOME, KAFKA_BROKERS: brokers, BARNABAS_PREFIX: prefix },
              stdio: ['ignore', 'pipe', 'inherit'],
            })
            let isOver = false
            const exited = new Promise<number | null>((resolve) => child.on('close', resolve))
            void exited.then(() => (isOver = true))
            const output = text(child.stdout)
            const megabytes: number[] = []
            for (; !isOver; await sleep(lookEveryMs)) {
              const bytes = await residentBytesOf(child.pid ?? 0).catch(() => 0)
              if (bytes > 0) megabytes.push(bytes / 1_000_000)
            }
            const status = await exited
            if (status !== 0) throw new Error(`redrive ended with status ${status}: ${await output}`)
            return { ...(JSON.parse(await output) as Redriven), megabytes }
          }
          const first = await run()
          say(`S14: ${first.sent} sent again in ${first.seconds} s`)
          const second = await run()
          return result(first, second, size.redriven)
        },
      ),
    deadLetterOf,
  )
}

function result(first: Redriven & { readonly megabytes: readonly number[] }, second: Redriven, count: number) {
  const { megabytes } = first
  const third = Math.ceil(megabytes.length / 3)
  return {
    figures: [
      {
        scenario: 'S14',
        what: 'sent again',
        unit: 'events/s',
        rounds: [first.sent / Math.max(first.seconds, 0.001)],
        of: 'value',
        target: { kind: 'at least', limit: 4_000 },
      },
      {
        scenario: 'S14',
        what: 'resident, highest',
        unit: 'MB',
        rounds: [Math.max(...megabytes)],
        of: 'value',
      },
      {
        scenario: 'S14',
        what: 'resident, middle of the last third above the middle one',
        unit: 'MB',
        rounds: [median(megabytes.slice(-third))],
        baseline: { name: 'middle third', rounds: [median(megabytes.slice(third, 2 * third + 1))] },
        of: 'difference',
        target: { kind: 'at most', limit: 25 },
      },
    ],
    counts: [
      { what: 'S14: dead letters sent again', expected: count, actual: first.sent },
      { what: 'S14: sent a second time', expected: 0, actual: second.sent },
      { what: 'S14: known to have been sent', expected: count, actual: second.alreadySent },
    ],
  } as const
}

function deadLetterOf(index: number): BenchRecord {
  const event = benchRecord(index)
  const [{ headers }] = deadLetterRecords({
    topic: '',
    key: null,
    value: null,
    headers: Object.fromEntries(Object.entries(event.headers).map(([name, value]) => [name, Buffer.from(value)])),
    state: {
      subscriptionId: 'bench',
      generation: 1,
      source: { topic: 'bench-orders', partition: 0, offset: index },
      publishTime,
      attempts: 11,
      firstAttemptTime: publishTime,
      lastAttemptTime: publishTime,
      lastOutcome: 'Busy',
      lastStatus: 503,
    },
    reason: 'MaxDeliveryAttemptsExceeded',
    time: publishTime,
    destination: 'https://example.com/hook',
  })
  return {
    value: event.value,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  }
}
