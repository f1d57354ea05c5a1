/** The table of docs/event-grid.md, "Bring your subscription": row C5. */
import { parseSubscription } from '@barnabas/core'
import { expect, test } from 'vitest'
import { codeBlocks, page, tableOf } from './markdown.ts'

const eventGrid = page('docs/event-grid.md')
const destination = { endpointType: 'WebHook', properties: { endpointUrl: 'https://example.com/' } }
const supplied = { id: 'a', topics: ['orders'], handshake: 'none', notation: 'barnabas', input: 'cloudevents' }

function messages(properties: object): readonly string[] {
  const body = { eventDeliverySchema: 'CloudEventSchemaV1_0', destination, ...properties }
  const parsed = parseSubscription({ ...supplied, properties: body })
  return parsed.kind === 'valid' ? [] : parsed.problems.map(({ message }) => message)
}

/** `{ a: { b: value } }` of `a.b`, and what a destination needs besides. */
function at(path: readonly string[], value: unknown): object {
  const [first = '', ...rest] = path
  const below = rest.length === 0 ? value : at(rest, value)
  if (first === 'destination') return { destination: { ...destination, ...(below as object) } }
  return { [first]: below }
}

test.each([...tableOf(eventGrid, 'Bring your subscription').keys()])('%s is known', (field) => {
  const path = field.split('.')
  const unknown = [...path.slice(0, -1), `${path.at(-1)}x`]
  const aboutNames = (all: readonly string[]) =>
    all.filter((message) => message.includes('is not a field of Event Grid'))
  expect(aboutNames(messages(at(path, 7)))).toEqual([])
  expect(aboutNames(messages(at(unknown, 7)))).toHaveLength(1)
})

test('the example validates', () => {
  const example = codeBlocks(eventGrid, 'Bring your subscription').find(({ language }) => language === 'json')
  expect(parseSubscription(JSON.parse(example?.text ?? ''))).toMatchObject({
    kind: 'valid',
    subscription: { id: 'orders-to-billing', notation: 'event-grid-kubernetes', retry: { maxAttempts: 3 } },
  })
})
