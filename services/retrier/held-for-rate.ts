export interface HeldForRateOptions {
  readonly isLimited: (subscriptionId: string) => boolean
  /** Whether there is a topic to hold it, or may be. */
  readonly mayHold: (subscriptionId: string) => Promise<boolean>
  /** Whether a due retry of it waits for its turn here already. */
  readonly isWaiting: (subscriptionId: string) => boolean
}

/**
 * Whether a due retry takes its turn in the rate of its subscription out of the held topic: where there is a rate and the
 * topic may be made. Where it may not, one retry at a time waits for its turn here, and any other is held too, which comes
 * to being parked again: a tier waits for no more of them, and none is passed over for ever.
 */
export function createHeldForRate(
  options: HeldForRateOptions,
): (subscription: { readonly id: string }) => false | Promise<boolean> {
  const { isLimited, mayHold, isWaiting } = options
  return ({ id }) => isLimited(id) && mayHold(id).then((may) => may || isWaiting(id))
}
