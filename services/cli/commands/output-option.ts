import { InvalidArgumentError, Option } from 'commander'
import { notAvailable } from '../refusal.ts'

/** `-o`: formats of later versions are refused by name. */
export function outputOption(formats: readonly string[], later: readonly string[] = []): Option {
  const only =
    formats.length === 1 ? `${formats[0]}, and nothing else on standard output` : `one of ${formats.join(', ')}`
  return new Option('-o, --output <format>', only).argParser((value) => {
    if (formats.includes(value)) return value
    if (later.includes(value)) throw notAvailable(`-o ${value}`)
    throw new InvalidArgumentError(`One of ${formats.join(', ')}.`)
  })
}

/** A whole number of at least 1. */
export function wholeNumber(max: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : 0
    if (number >= 1 && number <= max) return number
    throw new InvalidArgumentError(`A whole number from 1 to ${max}.`)
  }
}
