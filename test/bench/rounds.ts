import type { Bench } from './scenario.ts'

/** Measures every system once per round, in turns, so that what else the machine does meets all of them alike. */
export async function inTurns<Results extends Record<string, unknown>>(
  { size, say }: Pick<Bench, 'size' | 'say'>,
  systems: { readonly [Name in keyof Results]: () => Promise<Results[Name]> },
  describe: (name: keyof Results & string, result: Results[keyof Results]) => string,
): Promise<{ readonly [Name in keyof Results]: readonly Results[Name][] }> {
  const names = Object.keys(systems) as (keyof Results & string)[]
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as {
    [Name in keyof Results]: Results[Name][]
  }
  for (let round = 1; round <= size.rounds; round++) {
    for (const name of names) {
      const result = await systems[name]()
      results[name].push(result)
      say(`round ${round} of ${size.rounds}: ${describe(name, result)}`)
    }
  }
  return results
}
