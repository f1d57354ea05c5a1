/** 1: refused or failed; 2: the command itself was wrong. */
export type ExitStatus = 0 | 1 | 2

/**
 * Why a command ends without having done what it was asked, in words for the person who gave it: printed on standard
 * error without a stack. Everything else that is thrown is a defect of ours.
 */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly exitStatus: ExitStatus

  constructor(message: string, exitStatus: 1 | 2 = 1) {
    super(message)
    this.exitStatus = exitStatus
  }
}

/** The command was given in a way that no Kafka could make right. */
export function usageError(message: string): Refusal {
  return new Refusal(message, 2)
}
