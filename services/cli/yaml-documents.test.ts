import { expect, test } from 'vitest'
import { readDocuments } from './yaml-documents.ts'

const text = `# orders
id: orders
topics:
  - a
  - "b c"
retry:
  schedule: [1s,
    nonsense]
filters:
  - any:
      - exact: { type: x }
`

test.each([
  [[], 2, 1],
  [['id'], 2, 5],
  [['topics'], 3, 1],
  [['topics', 1], 5, 5],
  [['retry'], 6, 1],
  [['retry', 'schedule'], 7, 3],
  [['retry', 'schedule', 1], 8, 5],
  [['filters', 0, 'any', 0, 'exact', 'type'], 11, 24],
  // What is missing stands where its parent stands.
  [['sink'], 2, 1],
  [['retry', 'maxAttempts'], 6, 1],
  [['topics', 7], 3, 1],
  [['id', 'deeper'], 2, 5],
] as const)('%j stands at %d:%d', (path, line, column) => {
  const { documents, problems } = readDocuments(text)
  expect(problems).toEqual([])
  expect(documents[0]?.positionOf(path)).toEqual({ line, column })
})

test('several documents, lists of them and empty ones are read in order, each with its own lines', () => {
  const { documents, problems } = readDocuments('---\nid: a\n---\n---\n- id: b\n- id: c\n---\n# nothing\n')
  expect(problems).toEqual([])
  expect(documents.map(({ value }) => value)).toEqual([{ id: 'a' }, { id: 'b' }, { id: 'c' }])
  expect(documents.map(({ positionOf }) => positionOf(['id']))).toEqual([
    { line: 2, column: 5 },
    { line: 5, column: 7 },
    { line: 6, column: 7 },
  ])
})

test('JSON is read with its lines too', () => {
  const { documents } = readDocuments('[\n\t{ "id": "a" },\n\t{ "id": "b",\n\t\t"sink": 7 }\n]')
  expect(documents.map(({ value }) => value)).toEqual([{ id: 'a' }, { id: 'b', sink: 7 }])
  expect(documents[1]?.positionOf(['sink'])).toEqual({ line: 4, column: 11 })
})

test('an alias is followed, and a name such as __proto__ is a name', () => {
  const { documents } = readDocuments('retry: &r\n  schedule: x\nother: *r\n__proto__: 1')
  expect(Object.keys(documents[0]?.value as object)).toEqual(['retry', 'other', '__proto__'])
  expect(documents[0]?.positionOf(['other', 'schedule'])).toEqual({ line: 2, column: 13 })
})

test.each([
  ['a quote that does not end', 'id: "a\ntopics: [x]', 2],
  ['a list that does not end', 'id: a\ntopics: [x\nsink: y', 3],
  ['a name that stands twice', 'id: a\nid: b', 2],
  ['an alias without its anchor', 'id: a\ntopics: *nothing', 2],
  ['a tag that nobody knows', 'id: a\nsink: !secret x', 2],
  ['a broken second document', 'id: a\n---\n{', 3],
] as const)('%s is a problem with its line', (_name, broken, line) => {
  const { problems } = readDocuments(broken)
  expect(problems.map((problem) => problem.line)).toContain(line)
  for (const { message } of problems) expect(message).not.toContain('\n')
})

test('a few lines that would fill the memory are refused', () => {
  const rows = Array.from({ length: 12 }, (_, row) => `a${row + 1}: &a${row + 1} [${`*a${row},`.repeat(9)}]`)
  const { documents, problems } = readDocuments(['a0: &a0 [x]', ...rows].join('\n'))
  expect(documents).toEqual([])
  expect(problems).toHaveLength(1)
})

test('ten megabytes of JSON are read in a moment, and of YAML refused', () => {
  const filler = 'x'.repeat(1_000)
  const json = JSON.stringify(Array.from({ length: 10_000 }, (_, index) => ({ id: `a${index}`, filler })))
  const before = performance.now()
  const { documents, problems } = readDocuments(json)
  expect(performance.now() - before).toBeLessThan(2_000)
  expect([documents.length, problems.length]).toEqual([10_000, 0])
  expect(documents[7]?.value).toEqual({ id: 'a7', filler })
  expect(documents[7]?.positionOf(['id'])).toEqual({ line: 1, column: 1 })
  for (const broken of [`a: ${'x'.repeat(2_000_000)}`, json.slice(0, -1)]) {
    expect(readDocuments(broken)).toMatchObject({
      documents: [],
      problems: [{ message: expect.stringContaining('no JSON') }],
    })
  }
})
