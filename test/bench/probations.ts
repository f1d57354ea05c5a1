import { measureOnProbation } from './fleet.ts'
import type { Scenario } from './scenario.ts'

const parkedEach = 100
/** What comes after the last failure, and waits in its topic. */
const waitingEach = 50

/**
 * S13: many subscriptions whose receivers fail, each on probation with a hundred parked events, of which none is due. The
 * baseline is what the same processes cost before the first event came.
 */
export const probations: Scenario = async (bench) => {
  const { idleSubscriptions } = bench.size
  bench.say(`S13: ${idleSubscriptions} subscriptions, idle and then on probation`)
  const measured = await measureOnProbation(
    bench,
    {
      subscriptions: idleSubscriptions,
      services: ['dispatcher', 'retrier'],
      fieldsOf: () => ({
        sink: bench.sink.url('503'),
        // So that none is under way beyond the one that begins it.
        concurrency: 1,
        retry: { schedule: ['12h'] },
        probation: { after: parkedEach, steps: ['3h'], lengths: { Busy: '3h' } },
      }),
    },
    { events: parkedEach + waitingEach, failures: parkedEach * idleSubscriptions },
  )
  const what = `${idleSubscriptions.toLocaleString('en-US')} subscriptions on probation`
  const { idle, onProbation, failures } = measured
  return {
    figures: [
      {
        scenario: 'S13',
        what: `${what}: CPU`,
        unit: '% of a core',
        rounds: [onProbation.cpuPercent],
        baseline: { name: 'idle', rounds: [idle.cpuPercent] },
        of: 'difference',
        target: { kind: 'at most', limit: 1 },
      },
      {
        scenario: 'S13',
        what: `${what}: resident`,
        unit: 'MB',
        rounds: [onProbation.residentMegabytes],
        baseline: { name: 'idle', rounds: [idle.residentMegabytes] },
        of: 'difference',
      },
    ],
    counts: [
      {
        what: 'S13: attempts before and during the probations',
        expected: parkedEach * idleSubscriptions,
        actual: failures,
      },
    ],
  }
}
