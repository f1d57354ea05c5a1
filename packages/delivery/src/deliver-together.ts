import type { AttemptReport, Verdict } from '@barnabas/core'
import type { CarriedOut, NoRequest } from './carry-out.ts'
import type { Owner } from './owner.ts'

type Deliveries<Each> = readonly [Each, ...Each[]]

/** What a batch needs of the engine that delivers one event. */
export interface TogetherOptions<Delivery> {
  /** One request with all of them. */
  readonly attempt: (deliveries: Deliveries<Delivery>) => Promise<AttemptReport>
  /** Null when an attempt may be made. */
  readonly verdictWithoutAttempt: (delivery: Delivery) => Verdict | null
  readonly settle: (verdict: Verdict, delivery: Delivery) => Promise<CarriedOut>
  readonly conclude: (
    delivery: Delivery,
    result: AttemptReport,
    chance: number,
  ) => CarriedOut | NoRequest | Promise<CarriedOut>
  readonly random: () => number
  /** The right to one more request; false when the process ends first. */
  readonly turn: (delivery: Delivery) => Promise<boolean>
  /** No request is made, although there was the right to one. */
  readonly giveBack: (delivery: Delivery) => void
}

type OnCarriedOut<Each> = (delivery: Each, carried: CarriedOut | NoRequest) => void

/**
 * A batch, all or none: what its attempt came to is the outcome of each of its events.
 *
 *     those whose attempts or time are over ──► each its verdict, without an attempt
 *     the others ──► one request ──► 413 or none can be built, and there are several ──► each half again, one after the other
 *                               └──► anything else ──► each its own verdict, carried out side by side
 *
 * 413 says of several events only that they are too much together. So it is the outcome of none of them, and no attempt
 * of theirs: it is neither counted nor written, and the halves travel with the same numbers at once. What is refused
 * alone is an outcome like any other. Nor can one event that no request can be built for fail the others (row A3). A batch
 * of n events makes 2 n − 1 requests at the very most, each in its turn where their rate is limited.
 *
 * One draw for the whole attempt: what failed together falls due together, and its retry is one request again.
 */
export function createTogether<Delivery extends { readonly owner: Owner }>(options: TogetherOptions<Delivery>) {
  return async function deliverTogether<Each extends Delivery>(
    deliveries: readonly Each[],
    onCarriedOut: OnCarriedOut<Each>,
  ): Promise<void> {
    const toAttempt: Each[] = []
    const carryingOut: Promise<void>[] = []
    for (const delivery of deliveries) {
      const over = options.verdictWithoutAttempt(delivery)
      if (over === null) toAttempt.push(delivery)
      else carryingOut.push(options.settle(over, delivery).then((carried) => onCarriedOut(delivery, carried)))
    }
    const [first] = deliveries
    if (toAttempt.length === 0 && first !== undefined) options.giveBack(first)
    await attempt(toAttempt, onCarriedOut)
    await Promise.all(carryingOut)
  }

  async function attempt<Each extends Delivery>(deliveries: readonly Each[], onCarriedOut: OnCarriedOut<Each>) {
    const [first, ...others] = deliveries.filter((delivery) => {
      if (delivery.owner.lost) onCarriedOut(delivery, { kind: 'abandoned' })
      return !delivery.owner.lost
    })
    if (first === undefined) return
    const present: Deliveries<Each> = [first, ...others]
    const result = await options.attempt(present)
    if ((result.status === 413 || result.isNoRequest === true) && others.length > 0) {
      const middle = Math.ceil(present.length / 2)
      for (const half of [present.slice(0, middle), present.slice(middle)]) {
        if (await options.turn(first)) await attempt(half, onCarriedOut)
        else for (const delivery of half) onCarriedOut(delivery, { kind: 'abandoned' })
      }
      return
    }
    const chance = options.random()
    await Promise.all(
      present.map(async (delivery) => onCarriedOut(delivery, await options.conclude(delivery, result, chance))),
    )
  }
}
