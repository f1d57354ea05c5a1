import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { run } from './main.ts'

let cwd: string
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'barnabas-cli-'))
  await writeFile(join(cwd, 'good.yaml'), 'id: a\ntopics: [x]\nsink: https://example.com/\n')
  await writeFile(join(cwd, 'local.yaml'), 'id: a\ntopics: [x]\nsink: http://127.0.0.1:1/\n')
  await writeFile(join(cwd, 'bad.yaml'), 'id: A\ntopics: [x]\nsink: https://example.com/\n')
})
afterAll(() => rm(cwd, { recursive: true }))

/** Runs a command where no Kafka is. */
async function barnabas(args: readonly string[], stdin = '', env: Readonly<Record<string, string>> = {}) {
  const out: string[] = []
  const notes: string[] = []
  const exitStatus = await run(
    {
      env: { BARNABAS_DATA_DIR: join(cwd, 'nothing'), ...env },
      cwd,
      isInteractive: false,
      print: (line) => void out.push(line),
      note: (line) => void notes.push(line),
      printed: () => Promise.resolve(),
      readStdin: async () => stdin,
      ask: () => Promise.reject(new Error('asked')),
    },
    args,
  )
  return { exitStatus, out: out.join('\n'), notes: notes.join('\n') }
}

test.each([
  [['apply', '-f', 'good.yaml']],
  [['get']],
  [['describe', 'a']],
  [['delete', 'a', '--yes']],
  [['send', 'orders']],
  [['dead-letters', 'list']],
  [['dead-letters', 'show', 'a/0/0']],
  [['dead-letters', 'redrive', '--subscription', 'a']],
  [['dead-letters', 'export']],
])('%j without a broker says how to get one', async (args) => {
  expect(await barnabas(args)).toEqual({
    exitStatus: 1,
    out: '',
    notes: 'error: no broker: run `pnpm start` or set KAFKA_BROKERS',
  })
})

test.each([
  [['apply'], /required option '-f, --file <file\.\.\.>'/],
  [['aply', '-f', 'x'], /unknown command 'aply'\n\(Did you mean apply\?\)/],
  [['get', '--wach'], /unknown option '--wach'\n\(Did you mean --watch\?\)/],
  [['get', '-o', 'xml'], /One of table, yaml, json, event-grid, eventbridge/],
  [['get', 'a', 'b'], /too many arguments/],
  [['describe'], /missing required argument 'id'/],
  [['delete', 'a'], /say --yes/],
  [['send'], /missing required argument 'topic'/],
  [['send', 'or ders'], /"or ders" is not a topic: it may only contain/],
  [['send', '\u001b[2J'], /"\\u001b\[2J" is not a topic/],
  [['send', ''], /"" is not a topic: it is empty/],
  [['send', 'orders', '--data', 'hello'], /--data is not JSON .* --data '"text"', a file as --data @FILE/],
  [['send', 'orders', '--data', ''], /--data is not JSON/],
  [['send', 'orders', '--count', '0'], /A whole number from 1 to/],
  [['send', 'orders', '--count', '1e3'], /A whole number from 1 to/],
  [['send', 'orders', '--type', ''], /no CloudEvent: attribute `type` is empty/],
  [['dead-letters'], /Usage: barnabas dead-letters/],
  [['dead-letters', 'list', '--limit', 'all'], /A whole number from 1 to/],
  [['dead-letters', 'list', '--topic', 'a b'], /--topic: "a b" is not a topic/],
  [['dead-letters', 'show', 'x'], /"x" is not a position; write TOPIC\/PARTITION\/OFFSET/],
  [['start'], /missing required argument 'id'/],
  [['pause'], /missing required argument 'id'/],
  [['test-pattern', '-', '-'], /only one of the two can be standard input/],
  [['dead-letters', 'redrive', '--all'], /unknown option '--all'/],
  [['dead-letters', 'redrive', '--rate', '0'], /A whole number from 1 to/],
  [
    ['dead-letters', 'redrive', '--reason', 'TimeToLive'],
    /--reason: "TimeToLive" is none; write one of Max|did you mean/,
  ],
  [['dead-letters', 'export', '--outcome', 'busy'], /--outcome: "busy" is none; did you mean Busy\?/],
  [['dead-letters', 'list', '--since', 'yesterday'], /--since: "yesterday" is no time; write 2026-12-01T08:00:00Z/],
  [['dead-letters', 'list', '--since', '2026-02-30'], /--since: "2026-02-30" is no time/],
  [['dead-letters', 'list', '--since', '1h', '--until', '2h'], /--since 1h is not before --until 2h/],
  [['dead-letters', 'list', '--source', 'a/b'], /--source: "a\/b" is neither TOPIC, TOPIC\/PARTITION nor/],
  [[], /Usage: barnabas/],
] as const)('%j is a wrong command: status 2 and %s', async (args, message) => {
  const { exitStatus, out, notes } = await barnabas(args)
  expect({ exitStatus, out }).toEqual({ exitStatus: 2, out: '' })
  expect(notes).toMatch(message)
})

test.each([
  [
    ['apply', '-f', 'bad.yaml', '-'],
    'id: "a',
    /bad\.yaml:1:5: id: "A"[^]*standard input:1:7: [^]*Nothing was applied\./,
  ],
  [['apply', '-f', 'nope.yaml', 'bad.yaml'], '', /nope\.yaml does not exist\nbad\.yaml:1:5: id/],
  [['apply', '-f', '.'], '', /is a directory; name a file/],
  [['apply', '-f', '-'], '', /standard input: holds no subscription/],
  [['apply', '-f', 'local.yaml'], '', /local\.yaml:3:7: sink: 127\.0\.0\.1 is a loopback address; allow it with/],
  [['apply', '-f', 'good.yaml', '--id', 'b'], '', /good\.yaml:1:5: id: is not the "b" of --id/],
  [['apply', '-f', 'good.yaml', '--topic', 'y', 'z'], '', /good\.yaml:2:1: topics: are not the y, z of --topic/],
  [['apply', '-f', 'good.yaml', '-', '--id', 'a'], 'properties: {}', /--id: names one subscription, but 2 are given/],
  [
    ['apply', '-f', '-'],
    '{"properties": {}}',
    /1:1: id: is missing; add --id ID[^]*add --topic TOPIC[^]*1:2: properties\.destination: is missing/,
  ],
  [
    ['apply', '-f', '-', '--id', 'a', '--topic', 'x'],
    '{"properties": {\n"destination": {"endpointType": "Webhook", "properties": {\n"endpointUrl": "<url>"}}}}',
    /input:3:16: properties\.destination\.properties\.endpointUrl: "<url>" is not an http/,
  ],
  [['send', 'orders', '--data', '@nope.json'], '', /--data: .*nope\.json does not exist/],
] as const)('%j is refused: status 1 and %s', async (args, stdin, message) => {
  const { exitStatus, out, notes } = await barnabas(args, stdin)
  expect({ exitStatus, out }).toEqual({ exitStatus: 1, out: '' })
  expect(notes).toMatch(message)
})

test('a bad variable stops every command with a sentence, an unknown one is a warning', async () => {
  const { exitStatus, notes } = await barnabas(['get'], '', { BARNABAS_PARTITIONS: 'many' })
  expect(exitStatus).toBe(1)
  expect(notes).toMatch(/^error: BARNABAS_PARTITIONS="many" cannot be used/)
  expect((await barnabas(['get'], '', { BARNABAS_PARTITION: '1' })).notes).toMatch(
    /^warning: BARNABAS_PARTITION is not/,
  )
})

test.each([
  [[]],
  [['apply']],
  [['get']],
  [['describe']],
  [['delete']],
  [['send']],
  [['dead-letters']],
  [['dead-letters', 'list']],
  [['dead-letters', 'show']],
  [['dead-letters', 'redrive']],
  [['dead-letters', 'export']],
])('%j --help has an example', async (args) => {
  const { exitStatus, out, notes } = await barnabas([...args, '--help'])
  expect({ exitStatus, notes }).toEqual({ exitStatus: 0, notes: '' })
  expect(out).toContain(`Usage: ${['barnabas', ...args].join(' ')}`)
  expect(out).toMatch(/\nExample:\n  barnabas /)
})

test('--version prints the version and nothing else', async () => {
  const { exitStatus, out, notes } = await barnabas(['--version'])
  expect({ exitStatus, notes }).toEqual({ exitStatus: 0, notes: '' })
  expect(out).toMatch(/^\d+\.\d+\.\d+$/)
})

test('a single format of -o is told as what it prints, several as a choice', async () => {
  expect((await barnabas(['apply', '--help'])).out).toContain('json, and nothing else on standard output')
  expect((await barnabas(['get', '--help'])).out).toContain('one of table, yaml, json, event-grid, eventbridge')
})

const testedEvent = '{"specversion":"1.0","id":"1","source":"/s","type":"order.paid","data":{"amount":3}}'

test.each<[args: string[], exitStatus: number, out: string, notes: RegExp]>([
  [['{"type":[{"prefix":"order."}]}', testedEvent], 0, 'matches', /^$/],
  [['-', testedEvent], 0, 'matches', /^$/],
  [
    ['{"type":["order.paid"],"data":{"amount":[{"numeric":[">",5]}],"city":["Rome"]}}', testedEvent],
    1,
    'data.amount: is 3, which none of [{"numeric":[">",5]}] lets pass\ndata.city: is not there, which none of ["Rome"] lets pass',
    /does not match/,
  ],
  [['{"type":"a"}', testedEvent], 1, '', /^error: pattern\.type: "a" is not a list of conditions/],
  [['[]', testedEvent], 1, '', /^error: pattern: \[\] is not an event pattern/],
  [['{', testedEvent], 1, '', /^error: pattern is not JSON/],
  [['{}', '{"a":1}'], 1, '', /^error: event: /],
  [['nowhere.json', testedEvent], 1, '', /nowhere\.json does not exist/],
])('test-pattern %j', async (args, exitStatus, out, notes) => {
  const result = await barnabas(['test-pattern', ...args], '{}')
  expect(result).toEqual({ exitStatus, out, notes: expect.stringMatching(notes) })
})
