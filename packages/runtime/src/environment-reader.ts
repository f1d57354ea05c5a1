import type { Parse } from './environment-values.ts'

export type Environment = Readonly<Record<string, string | undefined>>
/** Reads a text file as UTF-8; throws when it cannot. */
export type ReadFile = (path: string) => string

/** Reads variables one by one and collects a sentence for each that cannot be used. */
export interface EnvironmentReader {
  readonly problems: string[]
  readonly warnings: string[]
  isSet(name: string): boolean
  /** The parsed value; undefined when it is unset, and when it is bad (a problem was noted then). */
  value<Value>(name: string, parse: Parse<Value>): Value | undefined
  /** The content of the file that the variable names. */
  file(name: string): string | undefined
  /** A secret's value, from the variable itself (not trimmed) or from the file that `<name>_FILE` names. */
  secret(name: string): string | undefined
}

export function createEnvironmentReader(env: Environment, readFile: ReadFile): EnvironmentReader {
  const problems: string[] = []
  const textOf = (name: string): string | undefined => {
    const text = env[name]?.trim()
    return text === '' ? undefined : text
  }
  const isSet = (name: string): boolean => textOf(name) !== undefined

  const file = (name: string): string | undefined => {
    const path = textOf(name)
    if (path === undefined) return undefined
    try {
      const content = readFile(path)
      if (content.trim() !== '') return content
      problems.push(`${shown(name, path)} names an empty file.`)
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      problems.push(`${shown(name, path)} names a file that cannot be read: ${why}.`)
    }
    return undefined
  }

  return {
    problems,
    warnings: [],
    isSet,
    file,
    value(name, parse) {
      const text = textOf(name)
      if (text === undefined) return undefined
      const parsed = parse(text)
      if (parsed.kind === 'ok') return parsed.value
      problems.push(`${shown(name, text)} cannot be used: ${parsed.reason}.`)
      return undefined
    },
    secret(name) {
      const fileName = `${name}_FILE`
      if (isSet(name) && isSet(fileName)) {
        problems.push(`${name} and ${fileName} are both set; set only one of them.`)
        return undefined
      }
      // An editor or `echo` ends the file with a line break that is no part of the secret.
      return isSet(name) ? env[name] : file(fileName)?.replace(/\r?\n$/, '')
    },
  }
}

/** `NAME="value"`, the value escaped and at most 200 characters of it. Never asked for a secret. */
function shown(name: string, value: string): string {
  return `${name}=${JSON.stringify(value.length > 200 ? `${value.slice(0, 200)}…` : value)}`
}
