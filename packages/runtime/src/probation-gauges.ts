import { Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

/** How one subscription stands, as all processes together see it. */
export interface Standing {
  readonly subscription: string
  readonly isOnProbation: boolean
  /** Events that wait for a retry. */
  readonly parked: number
}

export interface ProbationGaugesOptions {
  readonly registry: Registry
  /** Asked for each scrape. */
  readonly standings: () => Iterable<Standing>
  /** What a subscription is counted as. */
  readonly labelOf: (subscription: string) => string
}

/** What Event Grid shows of no subscription (row A21). Read anew for each scrape, so that nobody has to be forgotten. */
export function addProbationGauges({ registry, standings, labelOf }: ProbationGaugesOptions): void {
  const named = (name: string, help: string) => ({
    name: `barnabas_${name}`,
    help,
    labelNames: ['subscription'],
    // Registered below.
    registers: [],
  })
  const active = new Gauge({
    ...named('probation_active', 'Whether the receiver is on probation, 1 or 0; its trials belong to it.'),
    collect() {
      this.reset()
      for (const { subscription, isOnProbation } of standings()) {
        this.inc({ subscription: labelOf(subscription) }, isOnProbation ? 1 : 0)
      }
    },
  })
  const parkedEvents = new Gauge({
    ...named('parked_events', 'Events that wait for a retry, as all processes together have counted.'),
    collect() {
      this.reset()
      for (const { subscription, parked } of standings()) this.inc({ subscription: labelOf(subscription) }, parked)
    },
  })
  registry.registerMetric(active)
  registry.registerMetric(parkedEvents)
}
