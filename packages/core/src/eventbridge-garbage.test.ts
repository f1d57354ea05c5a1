import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pathsOf, replaced } from '../fixtures/document-places.ts'
import { parseSubscription } from './parse-subscription.ts'

/** Whatever somebody hands over as EventBridge's JSON: a value or named problems, never an exception. */
const samples = new URL('../samples/eventbridge/', import.meta.url)
const documents = readdirSync(samples).map((file) => [file, readFileSync(new URL(file, samples), 'utf8')] as const)

const garbage: readonly unknown[] = [
  null,
  0,
  -1.5,
  '',
  '{',
  '{"a":',
  '"x"',
  'null',
  'x\r\ny',
  'x'.repeat(10_000),
  true,
  [],
  {},
  [[[[]]]],
  [null],
  JSON.parse('{"__proto__": {"Form": "CONSTANT"}, "constructor": 1, "toString": null}'),
  JSON.parse('{"Value":'.repeat(200) + '1' + '}'.repeat(200)),
]

test.each(documents)('%s with the wrong type at every place', (_file, text) => {
  const document = JSON.parse(text) as unknown
  for (const path of pathsOf(document)) {
    for (const each of garbage) {
      const parsed = parseSubscription(replaced(document, path, each))
      if (parsed.kind === 'valid') expect(parsed.subscription.notation).toBe('eventbridge')
      else {
        expect(parsed.problems.length).toBeGreaterThan(0)
        for (const { message } of parsed.problems) {
          expect(message.length).toBeLessThan(2_000)
          expect(message).not.toContain('hunter2')
        }
      }
    }
  }
})

test('what is cut off in the middle of a password shows nothing of it', () => {
  const Source = '{"SourceApacheKafkaParameters":{"Topic":"orders","SaslPassword":"hunter2 hunter2'
  const parsed = parseSubscription({ EventStreamingName: 'a', Source, Sink: 'hunter2', RunOptions: '{"hunter2' })
  expect(parsed.kind).toBe('invalid')
  expect(JSON.stringify(parsed)).not.toContain('hunter2')
})
