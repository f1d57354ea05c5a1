import { InvalidArgumentError, Option } from 'commander'

/** `-o`: the format of what is printed. */
export function outputOption(formats: readonly string[]): Option {
  const only =
    formats.length === 1 ? `${formats[0]}, and nothing else on standard output` : `one of ${formats.join(', ')}`
  return new Option('-o, --output <format>', only).argParser((value) => {
    if (formats.includes(value)) return value
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
