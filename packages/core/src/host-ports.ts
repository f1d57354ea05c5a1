import type { Report } from './subscription-field.ts'
import { readList, readText, shown } from './subscription-field.ts'

const entriesMax = 100
const entryLengthMax = 300

/** What stands at the addresses. */
export interface HostPorts {
  /** What one of them is called, such as `broker`. */
  readonly what: string
  readonly example: string
  /** The field where user name and password belong. */
  readonly login: string
}

/** Reads a list of host:port, or the same as comma-separated text, which is what KAFKA_BROKERS would be. */
export function readHostPorts(value: unknown, report: Report, about: HostPorts): readonly string[] | undefined {
  const written = typeof value === 'string' ? value.split(',').map((each) => each.trim()) : value
  const list = readList(written, report, entriesMax, `[${about.example}]`)
  if (list === undefined) return undefined
  if (list.length === 0) return report(`is empty; name at least one ${about.what} as host:port`)
  const read = list.flatMap((entry, index) => readHostPort(entry, (message) => report(message, index), about) ?? [])
  return read.length === list.length ? read : undefined
}

function readHostPort(value: unknown, report: Report, { example, login }: HostPorts): string | undefined {
  const text = readText(value, report, entryLengthMax)
  if (text === undefined) return undefined
  // What stands before an @ may be a password.
  if (text.includes('@')) return report(`user name and password may not stand here; write ${login}`)
  const [host = '', port = '', ...rest] = text.split(':')
  const isPort = /^[1-9]\d{0,4}$/.test(port) && Number(port) <= 65_535
  if (/^[A-Za-z0-9._-]+$/.test(host) && isPort && rest.length === 0) return text
  return report(`${shown(text)} is not host:port, such as ${example}`)
}
