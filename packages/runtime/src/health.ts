/** What one part of the process says of itself. */
export interface HealthCheck {
  /** Able to do its work now. */
  readonly ready: boolean
  /** False only for what a restart of the process would mend. */
  readonly live: boolean
  /** One sentence for a person. */
  readonly detail: string
}

export interface HealthReport {
  readonly isOk: boolean
  readonly checks: Readonly<Record<string, HealthCheck>>
}

export interface Health {
  /** Tells the present state of a named check; the last one told holds. */
  set(name: string, check: HealthCheck): void
  remove(name: string): void
  live(): HealthReport
  /** Not ready before the first check was told: a process that has said nothing has not started. */
  ready(): HealthReport
}

export function createHealth(): Health {
  const checks = new Map<string, HealthCheck>()
  const all = (): HealthCheck[] => [...checks.values()]
  const report = (isOk: boolean): HealthReport => ({ isOk, checks: Object.fromEntries(checks) })
  return {
    set: (name, check) => void checks.set(name, check),
    remove: (name) => void checks.delete(name),
    live: () => report(all().every((check) => check.live)),
    ready: () => report(checks.size > 0 && all().every((check) => check.ready && check.live)),
  }
}
