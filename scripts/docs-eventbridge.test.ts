import { parseSubscription, patternOperators, transformForms } from '@barnabas/core'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { codeBlocks, differences, onlyKeys, page, tableOf } from './markdown.ts'

const eventBridge = page('docs/eventbridge.md')

test('the table of operators in docs/eventbridge.md', () => {
  const operators = onlyKeys(Object.keys(patternOperators))
  expect(differences('operators', tableOf(eventBridge, 'Patterns'), operators)).toBe('')
})

test('the table of forms in docs/eventbridge.md', () => {
  expect(differences('forms', tableOf(eventBridge, 'Transforms'), onlyKeys(transformForms))).toBe('')
})

const examples = ['Patterns', 'Transforms'].flatMap((section) => codeBlocks(eventBridge, section))
test.each(examples.filter(({ language }) => language === 'yaml'))('the example %# validates', ({ text }) => {
  expect(parseSubscription(parse(text))).toMatchObject({ kind: 'valid', warnings: [] })
})

const example = () => {
  const json = codeBlocks(eventBridge, 'Bring your event stream').find(({ language }) => language === 'json')
  return JSON.parse(json?.text ?? '') as Readonly<Record<string, unknown>>
}

test('the example of an event stream validates', () => {
  expect(parseSubscription(example())).toMatchObject({
    kind: 'valid',
    subscription: { id: 'orders-to-billing', concurrency: 4, retry: { schedule: 'exponential-decay' } },
  })
})

test.each([...tableOf(eventBridge, 'Bring your event stream').keys()])('%s is known', (field) => {
  const path = field.split('.')
  const unknown = [...path.slice(0, -1), `${path.at(-1)}x`]
  expect(unknownFields(at(path, 7))).toEqual([])
  expect(unknownFields(at(unknown, 7))).toHaveLength(1)
})

function unknownFields(fields: object): readonly string[] {
  const parsed = parseSubscription({ ...example(), ...fields })
  const problems = parsed.kind === 'valid' ? [] : parsed.problems
  return problems.map(({ message }) => message).filter((message) => message.includes('is not a field of EventBridge'))
}

/** `{ a: { b: value } }` of `a.b`. */
function at([first = '', ...rest]: readonly string[], value: unknown): object {
  return { [first]: rest.length === 0 ? value : at(rest, value) }
}
