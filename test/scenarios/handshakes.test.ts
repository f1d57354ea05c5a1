/**
 * A receiver is asked before the first event is sent (issue 5, point 8; spec event-grid.md 2.2 and 2.3; CloudEvents,
 * HTTP 1.1 Web Hooks 1.0.2). Real receivers, and the whole of Barnabas in one process. Times are a hundred times shorter:
 * asked again after 50 ms, for 3 s; a URL serves for 6 s.
 */
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { beforeAll, expect, test, vi } from 'vitest'
import { apply, createSourceTopic, environment, lagOf, removeEverything, startBarnabas } from '../support/barnabas.ts'
import type { Barnabas } from '../support/barnabas.ts'
import { cleanUpAfterAll } from '../support/clean-up.ts'
import { followControlTopics } from '../support/control-topics.ts'
import type { ControlTopics, SeenStatus } from '../support/control-topics.ts'
import { binaryEvent } from '../support/events.ts'
import { plainKafka, produce, randomName } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Answer, ReceivedRequest, Receiver } from '../support/receiver.ts'
import { freePort } from '../support/start.ts'

const prefix = randomName('handshakes')
const cleanUp = cleanUpAfterAll()
let barnabas: Barnabas
let env: Record<string, string>
let control: ControlTopics
let receiver: Receiver
let publicUrl: string

const isValidation = ({ headers }: ReceivedRequest) => headers['aeg-event-type'] === 'SubscriptionValidation'
const isDeletion = ({ headers }: ReceivedRequest) => headers['aeg-event-type'] === 'SubscriptionDeletion'
const isAsked = (request: ReceivedRequest) => request.method === 'OPTIONS' || isValidation(request)
const dataOf = ({ body }: ReceivedRequest) =>
  (JSON.parse(body.toString()) as [{ data: { validationCode: string; validationUrl: string } }])[0].data
const echo = (request: ReceivedRequest): Answer => ({
  status: 200,
  body: JSON.stringify({ validationResponse: dataOf(request).validationCode }),
})
const consent = (headers: Record<string, string>): Answer => ({ status: 200, headers })
const gigabyte = Buffer.alloc(64 * 1024 * 1024, ' ')

/** What a receiver answers to a handshake, by the first step of its path. */
const answers: Record<string, (request: ReceivedRequest) => Answer> = {
  echoes: echo,
  accepts: () => 202,
  redirects: () => ({ status: 307, headers: { location: `${receiver.url}/echoes/redirected` } }),
  large: () => ({ status: 200, body: gigabyte }),
  wrong: () => ({ status: 200, body: '{"validationResponse":"00000000-0000-0000-0000-000000000000"}' }),
  silent: () => 200,
  consents: () => consent({ 'webhook-allowed-origin': 'shop.example', 'webhook-allowed-rate': '6000' }),
  others: () => consent({ 'webhook-allowed-origin': 'eventgrid.azure.net', 'webhook-allowed-rate': '*' }),
}

beforeAll(async () => {
  cleanUp(() => removeEverything(prefix))
  receiver = await startReceiver((request) => {
    const [, kind = ''] = request.path.split('/')
    if (isAsked(request)) return answers[kind]?.(request) ?? 404
    return kind === 'echoes' && request.path.endsWith('/busy') ? 503 : 200
  })
  cleanUp(() => receiver.close())
  const port = await freePort()
  // A proxy that keeps the path of the public URL.
  publicUrl = `http://127.0.0.1:${port}/hooks`
  env = {
    BARNABAS_HTTP_PORT: String(port),
    BARNABAS_PUBLIC_URL: publicUrl,
    BARNABAS_ORIGIN: 'shop.example',
    BARNABAS_TIME_SCALE: '0.01',
    BARNABAS_SECRET_KEY: 'hunter2',
  }
  barnabas = await startBarnabas(prefix, env)
  cleanUp(() => barnabas.stop())
  control = await followControlTopics(prefix)
  cleanUp(() => control.stop())
})

interface Subscribed {
  readonly id: string
  readonly topic: string
  readonly sink: string
  /** What its sink got, in order. */
  readonly got: () => readonly ReceivedRequest[]
}

/** A subscription with one event in its topic, which is to be sent as soon as its receiver has agreed. */
async function subscribe(
  id: string,
  kind: string,
  handshake: 'event-grid' | 'cloudevents',
  fields: Record<string, unknown> = {},
): Promise<Subscribed> {
  const topic = await createSourceTopic(prefix, id)
  await produce(plainKafka(), topic, [binaryEvent(`event of ${id}`)])
  const sink = `${receiver.url}/${kind}/${id}`
  const subscription = { id, topics: [topic], sink, from: 'earliest', handshake, ...fields }
  await apply(prefix, [subscription], {}, ['--no-wait'])
  return { id, topic, sink, got: () => receiver.requests.filter(({ path }) => path === `/${kind}/${id}`) }
}

const until = (id: string, status: string, revision = 1) =>
  control.untilStatus(id, (each) => each.status === status && each.revision === revision)
const awaiting = (id: string, revision = 1) =>
  control.untilStatus(id, (each) => each.handshake?.kind === 'awaiting' && each.revision === revision)
const urlOf = ({ handshake }: SeenStatus) => handshake?.url ?? ''
const arrived = (id: string) => receiver.until((all) => all.some(({ eventId }) => eventId === `event of ${id}`))
/** In their order; a receiver that was asked twice, because the machine was slow, was asked. */
const kinds = (requests: readonly ReceivedRequest[]) => {
  const all = requests.map((each) => (isAsked(each) ? 'asked' : 'event'))
  return all.filter((kind, index) => kind === 'event' || all[index - 1] !== 'asked')
}
const handshakesOf = (id: string) => [...new Set(control.statusesOf(id).map(({ handshake }) => handshake?.kind))]
const waiting = ({ id, topic }: Subscribed) => lagOf(`${prefix}.subscription.${id}`, topic)

test('event-grid: the code agrees at once, and then the event comes', async () => {
  const { id, got } = await subscribe('echoes', 'echoes', 'event-grid')
  await arrived(id)
  expect(kinds(got())).toEqual(['asked', 'event'])
  const [asked] = got()
  expect(got().at(-1)?.headers).not.toHaveProperty('origin')
  expect(asked).toMatchObject({
    method: 'POST',
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'aeg-subscription-name': 'ECHOES',
      'barnabas-subscription': 'echoes',
    },
  })
  expect(dataOf(asked!).validationUrl.startsWith(`${publicUrl}/handshakes/echoes/`)).toBe(true)
  await until(id, 'Running')
  expect(handshakesOf(id)).toEqual([undefined, 'trying', 'succeeded'])
})

test('cloudevents: OPTIONS is answered with origin and rate, and then the event comes', async () => {
  const { id, got } = await subscribe('consents', 'consents', 'cloudevents')
  await arrived(id)
  expect(kinds(got())).toEqual(['asked', 'event'])
  const { method, headers } = got()[0]!
  expect(method).toBe('OPTIONS')
  expect(headers['webhook-request-origin']).toBe('shop.example')
  expect(headers['webhook-request-callback']).toContain(`${publicUrl}/handshakes/consents/`)
  expect(got().at(-1)?.headers).toMatchObject({ 'webhook-request-origin': 'shop.example', origin: 'shop.example' })
  expect(await until(id, 'Running')).toMatchObject({ handshake: { kind: 'succeeded', allowedRate: 6_000 } })
  const { exited, lines } = runProcess('services/cli/bin/barnabas', environment(prefix), ['describe', id])
  expect(await exited).toBe(0)
  expect(lines).toContainEqual(expect.stringMatching(/^rate +6000\/min, which the receiver allows, of all processes/))
})

test('whoever agreed is told, once, that the subscription is deleted; headers of one’s own go along', async () => {
  const headers = { Authorization: { secret: 'KEY' }, 'X-Id': { path: '$.id' } }
  const { id, got } = await subscribe('deleted', 'echoes', 'event-grid', { headers })
  await arrived(id)
  await until(id, 'Running')
  const { exited } = runProcess('services/cli/bin/barnabas', environment(prefix), ['delete', id, '--yes'])
  await receiver.until(() => got().some(isDeletion))
  expect(await exited).toBe(0)
  await control.untilRemoved(id)
  const sent = got().map(({ headers: all }) => [all['aeg-event-type'], all['authorization'], all['x-id']])
  expect([sent[0], sent.at(-2), sent.at(-1)]).toEqual([
    ['SubscriptionValidation', 'hunter2', undefined],
    [undefined, 'hunter2', 'event of deleted'],
    ['SubscriptionDeletion', 'hunter2', undefined],
  ])
  const [event] = JSON.parse(got().at(-1)?.body.toString() ?? '') as [Record<string, unknown>]
  expect(event).toMatchObject({
    eventType: 'Microsoft.EventGrid.SubscriptionDeletedEvent',
    data: { eventSubscriptionId: id },
  })
})

test('a receiver that starts late is asked again until it is there', async () => {
  const port = await freePort()
  const sink = `http://127.0.0.1:${port}/late`
  const { id } = await subscribe('late', 'late', 'event-grid', { sink })
  const refused = await control.untilStatus(id, ({ reason }) => reason.includes('connection refused'))
  expect(refused).toMatchObject({ status: 'Starting', handshake: { kind: 'trying' } })
  expect(refused.reason).toContain(urlOf(refused))
  const seen: string[] = []
  const server: Server = createServer((request, response) => {
    void request.toArray().then((chunks: Buffer[]) => {
      seen.push(String(request.headers['aeg-event-type'] ?? request.headers['ce-id']))
      const code = /"validationCode":"([^"]*)"/.exec(Buffer.concat(chunks).toString())?.[1] ?? ''
      // Chunked, as many frameworks answer.
      response.write(JSON.stringify({ validationResponse: code }))
      response.end()
      if (seen.length === 2) server.emit('enough')
    })
  })
  const enough = new Promise((resolve) => server.once('enough', resolve))
  server.listen(port, '127.0.0.1')
  cleanUp(async () => server.close())
  await enough
  expect(seen).toEqual(['SubscriptionValidation', encodeURIComponent('event of late')])
})

test('202 is not accepted: Start Failed with the reason, no event, and a changed subscription asks anew', async () => {
  const one = await subscribe('accepts', 'accepts', 'event-grid')
  const { reason } = await until(one.id, 'Start Failed')
  expect(reason).toMatch(
    /the handshake \(event-grid\) has failed: .* the last try: answered 202, which does not validate/,
  )
  expect(kinds(one.got())).not.toContain('event')
  expect(one.got().length).toBeGreaterThan(10)
  expect(await waiting(one)).toBe(1)

  const sink = `${receiver.url}/echoes/mended`
  await apply(prefix, [{ id: one.id, topics: [one.topic], sink, from: 'earliest', handshake: 'event-grid' }])
  await arrived(one.id)
  expect(kinds(receiver.requests.filter(({ path }) => path === '/echoes/mended'))).toEqual(['asked', 'event'])
})

test('redirects are not followed', async () => {
  const { id } = await subscribe('redirects', 'redirects', 'event-grid')
  const { reason } = await until(id, 'Start Failed')
  expect(reason).toContain('answered 307; redirects are not followed')
  expect(receiver.requests.filter(({ path }) => path === '/echoes/redirected')).toEqual([])
})

test('another origin does not agree', async () => {
  const { id } = await subscribe('others', 'others', 'cloudevents')
  const { reason } = await until(id, 'Start Failed')
  expect(reason).toContain('allows the origin "eventgrid.azure.net", and we are shop.example')
})

test('a large answer is cut, and a person agrees by the URL that the status shows', async () => {
  const subscribed = await subscribe('large', 'large', 'event-grid')
  const status = await awaiting('large')
  expect(status).toMatchObject({
    status: 'Starting',
    reason: expect.stringContaining(`must call ${urlOf(status)} before`),
  })
  expect(await waiting(subscribed)).toBe(1)
  const answer = await fetch(urlOf(status))
  expect([answer.status, await answer.text()]).toEqual([200, 'The handshake of large has succeeded.\n'])
  await arrived('large')
  expect(kinds(subscribed.got())).toEqual(['asked', 'event'])
})

test('a wrong code and a wrong token agree to nothing; the right URL does, once', async () => {
  const { id, got } = await subscribe('wrong', 'wrong', 'event-grid')
  const url = urlOf(await awaiting(id))
  expect(dataOf(got()[0]!).validationUrl).toBe(url)
  const status = async (path: string, init: RequestInit = {}) => (await fetch(path, init)).status
  expect(await status(url.replace(/.{43}$/, 'x'.repeat(43)))).toBe(404)
  expect(await status(url.replace('/wrong/', '/nobody/'))).toBe(404)
  expect(await status(url, { method: 'HEAD' })).toBe(405)
  expect(await status(url, { method: 'POST', headers: { 'WebHook-Allowed-Rate': 'many' } })).toBe(400)
  expect(control.statusesOf(id).at(-1)?.handshake?.kind).toBe('awaiting')
  expect(kinds(got())).toEqual(['asked'])

  expect(await status(url)).toBe(200)
  await arrived(id)
  expect(await status(url)).toBe(410)
  expect(kinds(got())).toEqual(['asked', 'event'])
})

test('cloudevents: the receiver agrees later, by POST, with a rate', async () => {
  const { id, got } = await subscribe('later', 'silent', 'cloudevents')
  const url = urlOf(await awaiting(id))
  expect(got()[0]?.headers['webhook-request-callback']).toBe(url)
  const answer = await fetch(url, { method: 'POST', headers: { 'WebHook-Allowed-Rate': '6000' }, body: 'yes' })
  expect(answer.status).toBe(200)
  await arrived(id)
  expect(await until(id, 'Running')).toMatchObject({ handshake: { kind: 'succeeded', allowedRate: 6_000 } })
})

test('a URL that is called too late changes nothing', async () => {
  const { id, got } = await subscribe('slow', 'silent', 'event-grid')
  const url = urlOf(await awaiting(id))
  const { reason } = await until(id, 'Start Failed')
  expect(reason).toContain('nobody has called its validation URL before')
  expect((await fetch(url)).status).toBe(410)
  expect(kinds(got())).toEqual(['asked'])
})

test('the guard of addresses holds: a forbidden address is named, with what allows it', async () => {
  const topic = await createSourceTopic(prefix, 'forbidden')
  const subscription = { id: 'forbidden', topics: [topic], sink: 'http://10.1.2.3/', handshake: 'cloudevents' }
  // Whoever applies it may go there, the services may not.
  await apply(prefix, [subscription], { BARNABAS_ALLOWED_NETWORKS: '10.0.0.0/8' }, ['--no-wait'])
  const { reason } = await until('forbidden', 'Start Failed')
  expect(reason).toContain('10.1.2.3 is a private address; allow it with BARNABAS_ALLOWED_NETWORKS=10.0.0.0/8')
})

test('a changed subscription is asked again; until it agrees its retries are held, uncounted', async () => {
  const retry = { schedule: ['10s', 'repeat'], maxAttempts: 1_000 }
  const one = await subscribe('changes', 'echoes', 'event-grid', { sink: `${receiver.url}/echoes/busy`, retry })
  await receiver.until((all) => all.filter(({ path }) => path === '/echoes/busy').length >= 3)

  const sink = `${receiver.url}/silent/changed`
  const changed = { id: one.id, topics: [one.topic], sink, from: 'earliest', handshake: 'event-grid', retry }
  await apply(prefix, [changed], {}, ['--no-wait'])
  const url = urlOf(await awaiting(one.id, 2))
  await produce(plainKafka(), one.topic, [binaryEvent('another of changes')])
  const held = `${prefix}.held.${one.id}`
  await heldIn(held)
  const got = () => receiver.requests.filter(({ path }) => path === '/silent/changed')
  expect(kinds(got())).toEqual(['asked'])
  const before = receiver.requests.filter(({ path }) => path === '/echoes/busy').length - 1

  expect((await fetch(url)).status).toBe(200)
  await receiver.until(() => got().length >= 3)
  const [, ...events] = got()
  const attempts = Object.fromEntries(events.map(({ eventId, attempt }) => [eventId, attempt]))
  expect(attempts).toEqual({ 'another of changes': 1, 'event of changes': before + 1 })
})

/** Resolves when a due retry is in the held topic, which is made for it. */
async function heldIn(topic: string): Promise<void> {
  await vi.waitFor(async () => expect(await lagOf(topic, topic)).toBeGreaterThan(0), { timeout: 20_000, interval: 100 })
}

test('a restart does not ask again who has agreed, and asks who has not', async () => {
  const agreed = await subscribe('agreed', 'echoes', 'event-grid')
  const failed = await subscribe('failed', 'accepts', 'event-grid')
  await arrived(agreed.id)
  await until(failed.id, 'Start Failed')
  const asked = failed.got().length
  await barnabas.stop()
  barnabas = await startBarnabas(prefix, env)
  await produce(plainKafka(), agreed.topic, [binaryEvent('after the restart')])
  await receiver.until((all) => all.some(({ eventId }) => eventId === 'after the restart'))
  expect(kinds(agreed.got())).toEqual(['asked', 'event', 'event'])
  await receiver.until(() => failed.got().length > asked)
})
