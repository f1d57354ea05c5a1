import { environmentVariables, type EnvironmentVariable } from './environment-variables.ts'

/**
 * A sentence for each `BARNABAS_` name that is set and has no effect, for a typing error would otherwise stay unseen.
 * Values are not printed: an unknown name may hold a secret.
 */
export function warningsAboutNames(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env)
    .filter(([name, value]) => name.startsWith('BARNABAS_') && value !== undefined && value.trim() !== '')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, value]) => {
      if (environmentVariables.some((variable) => patternOf(variable).test(name))) return []
      if (isInjectedByKubernetes(name, value ?? '')) return []
      return [`${name} is not a variable of Barnabas and has no effect; did you mean ${nearestName(name)}?`]
    })
}

function patternOf(variable: EnvironmentVariable): RegExp {
  return new RegExp(`^${variable.name.replace(/<[A-Z]+>/, '.+')}${variable.secret ? '(_FILE)?' : ''}$`)
}

/**
 * Kubernetes gives every container the addresses of the Services in its namespace as variables; a Service called
 * `barnabas` (or `barnabas-dispatcher` …) makes names that begin like ours.
 * https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables
 */
function isInjectedByKubernetes(name: string, value: string): boolean {
  if (/^BARNABAS_(\w+_)?SERVICE_(HOST|PORT(_\w+)?)$/.test(name)) return true
  if (/^BARNABAS_(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name)) return true
  return name === 'BARNABAS_PORT' || (/^BARNABAS_\w+_PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value))
}

function nearestName(name: string): string {
  const candidates = environmentVariables
    .filter((variable) => variable.name.startsWith('BARNABAS_'))
    .map((variable) => ({ name: variable.name, distance: editDistance(name, variable.name) }))
  return candidates.reduce((best, candidate) => (candidate.distance < best.distance ? candidate : best)).name
}

/** Levenshtein's distance: the fewest characters to insert, remove or replace. Names beyond 200 characters are cut. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [row, character] of from.slice(0, 200).split('').entries()) {
    const current = [row + 1]
    for (let column = 1; column <= to.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (character === to[column - 1] ? 0 : 1)
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1))
    }
    previous = current
  }
  return previous[to.length] ?? 0
}
