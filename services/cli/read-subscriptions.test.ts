import { expect, test } from 'vitest'
import { readSubscriptions } from './read-subscriptions.ts'

const allowAll = { checkSink: () => ({ kind: 'allowed' }) as const }
const good = 'id: a\ntopics: [x]\nsink: https://example.com/hook\n'

function read(texts: Readonly<Record<string, string>>, options: Parameters<typeof readSubscriptions>[1] = allowAll) {
  return readSubscriptions(
    Object.entries(texts).map(([name, text]) => ({ name, text })),
    options,
  )
}

test('every subscription of every file is read', () => {
  const { subscriptions, problems } = read({ 'one.yaml': good, 'two.json': JSON.stringify([{ ...parsed(), id: 'b' }]) })
  expect(problems).toEqual([])
  expect(subscriptions.map(({ subscription }) => subscription.id)).toEqual(['a', 'b'])
})

test('every problem of every file is told, with file, line and column, field, value and what is allowed', () => {
  const { problems } = read({
    'one.yaml': 'id: Orders\ntopicz: [x]\nsink: ftp://x\nretry:\n  maxAttempts: lots\n',
    'two.yaml': 'id: "a',
    'three.yaml': '',
    'four.yaml': 'just text',
  })
  expect(problems).toEqual([
    'one.yaml:1:1: topics: is missing',
    'one.yaml:1:5: id: "Orders" is not an id; lower-case letters, digits and "-", beginning with a letter or digit',
    'one.yaml:2:1: topicz: is not a known field (did you mean topics?)',
    expect.stringMatching(/^one\.yaml:3:7: sink: "ftp:\/\/x" is not an http\(s\) URL; write for example https:/),
    expect.stringMatching(/^one\.yaml:5:16: retry\.maxAttempts: "lots" is not a whole number from 1 to /),
    expect.stringMatching(/^two\.yaml:1:\d+: Missing closing "quote/),
    'three.yaml: holds no subscription',
    'four.yaml:1:1: subscription: "just text" is not a mapping',
  ])
})

test('an id that stands twice is refused, across files too', () => {
  const { problems } = read({ 'one.yaml': good, 'two.yaml': `---\n${good}` })
  expect(problems).toEqual(['two.yaml:2:5: id: "a" stands twice, first at one.yaml:1:5'])
})

test('what Azure has in the path is supplied beside the file', () => {
  const own = { 'one.yaml': 'sink: https://example.com/hook\n' }
  const supplied = { id: 'a', topics: ['x', 'y'] }
  const { subscriptions, problems } = read(own, { ...allowAll, supplied })
  expect(problems).toEqual([])
  expect(subscriptions.map(({ subscription }) => subscription)).toMatchObject([supplied])
})

test('a sink that may not be reached is refused where it stands', () => {
  const { problems } = read({ 'one.yaml': good }, { checkSink: () => ({ kind: 'forbidden', message: 'not there' }) })
  expect(problems).toEqual(['one.yaml:3:7: sink: not there'])
  const webhook = `{ endpointType: WebHook, properties: { endpointUrl: "https://example.com/hook" } }`
  const eventGrid = `id: a\ntopics: [x]\nproperties:\n  destination: ${webhook}\n`
  const other = read({ 'two.yaml': eventGrid }, { checkSink: () => ({ kind: 'forbidden', message: 'not there' }) })
  expect(other.problems).toEqual(['two.yaml:4:68: properties.destination.properties.endpointUrl: not there'])
})

function parsed() {
  return { id: 'a', topics: ['x'], sink: 'https://example.com/hook' }
}
