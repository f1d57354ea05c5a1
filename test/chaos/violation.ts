export interface Violation {
  /** Of the event, null when it is of none. */
  readonly id: string | null
  readonly rule: Rule
  /** One line for a person. */
  readonly message: string
}

export type Rule =
  /** Neither delivered nor a dead letter. */
  | 'lost'
  /** An attempt number above the maximum, or a dead letter that does not count to it. */
  | 'above-maximum'
  /** An attempt before it was due. */
  | 'early'
  /** More extra attempts or dead letters (beside a delivery, any) than the faults that touch the event excuse. */
  | 'extra'
  /** A number that goes backwards, or is missing, where no window touches the event. */
  | 'out-of-order'
  /** An attempt before an earlier event of its lane had ended, or one that comes again behind a later one for no fault. */
  | 'order'
  /** A dead letter of an event that its receiver would have taken, where no window touches the event. */
  | 'given-up'
  /** What was never sent. */
  | 'unknown'
  /** A service that ended although nobody killed or stopped it. */
  | 'ended'

export function violation(id: string | null, rule: Rule, message: string): Violation {
  return { id, rule, message }
}
