import type { LookupAddress } from 'node:dns'
import type { AttemptResult } from '@barnabas/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { AddressGuard } from './address-guard.ts'
import type { ResolveAll } from './connector.ts'
import { createWebhookSender } from './sender.ts'
import { attemptOptions, guardOf, receiver, testEvent } from './test-receiver.ts'

// Loopback stands for every forbidden address: no test connects to another one.

async function attemptAt(url: string, addressGuard: AddressGuard, resolveAll?: ResolveAll): Promise<AttemptResult> {
  const sender = createWebhookSender({ addressGuard, ...(resolveAll === undefined ? {} : { resolveAll }) })
  onTestFinished(() => sender.close())
  return sender.attempt([testEvent()], { ...attemptOptions, url })
}

const resolvingTo =
  (...addresses: string[]): ResolveAll =>
  (_name, callback) =>
    callback(
      null,
      addresses.map((address): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 })),
    )

/** A guard whose check before the attempt lets everything pass, so that the connector stands alone. */
const connectorAlone = (...networks: string[]): AddressGuard => ({
  ...guardOf(...networks),
  checkSink: () => ({ kind: 'allowed' }),
})

test.each([
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '0.0.0.0',
  '[::1]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  'localhost',
])('the connector refuses %s, and the receiver there sees no connection', async (host) => {
  const { port, connections } = await receiver((_request, response) => response.end())
  const result = await attemptAt(`http://${host}:${port}/`, connectorAlone())
  expect(result).toMatchObject({ outcome: 'ResolutionError', status: null })
  expect(result.error).toMatch(
    /is (a loopback address|an address of this host); allow it with BARNABAS_ALLOWED_NETWORKS=/,
  )
  expect(connections).toHaveLength(0)
})

test('A16: a name that begins to resolve to a forbidden address is a ResolutionError', async () => {
  const { port, connections } = await receiver((_request, response) => response.end())
  const result = await attemptAt(`https://receiver.invalid:${port}/`, guardOf(), resolvingTo('127.0.0.1'))
  expect(result).toMatchObject({
    outcome: 'ResolutionError',
    error:
      'receiver.invalid resolves to a forbidden address: 127.0.0.1 is a loopback address; ' +
      'allow it with BARNABAS_ALLOWED_NETWORKS=127.0.0.0/8',
  })
  expect(connections).toHaveLength(0)
})

test('one forbidden address among several is enough', async () => {
  const { port, connections } = await receiver((_request, response) => response.end())
  const guard = guardOf('127.0.0.0/8')
  const url = `http://receiver.invalid:${port}/`
  const result = await attemptAt(url, guard, resolvingTo('127.0.0.1', '::1'))
  expect(result).toMatchObject({
    outcome: 'ResolutionError',
    forbiddenAddress: true,
    error: expect.stringContaining('::1 is a loopback address'),
  })
  expect(connections).toHaveLength(0)
  expect(await attemptAt(url, guard, resolvingTo('127.0.0.1'))).toMatchObject({ outcome: 'Delivered' })
})

test('http:// to a name is refused where it resolves to a public address', async () => {
  const result = await attemptAt('http://receiver.invalid/', guardOf(), resolvingTo('8.8.8.8'))
  expect(result).toMatchObject({
    outcome: 'ResolutionError',
    error: expect.stringContaining('http:// may not go to the public address 8.8.8.8'),
  })
})

test('a name without any address is a ResolutionError', async () => {
  const result = await attemptAt('https://receiver.invalid/', guardOf(), resolvingTo())
  expect(result).toMatchObject({
    outcome: 'ResolutionError',
    error: 'the name receiver.invalid does not resolve (ENODATA)',
  })
})

test('the address of the connected socket has the last word', async () => {
  const requests: unknown[] = []
  const { origin } = await receiver((request, response) => {
    requests.push(request)
    response.end()
  })
  const local = guardOf('127.0.0.0/8')
  const asked: string[] = []
  const guard: AddressGuard = {
    ...local,
    check: (address, protocol) => {
      asked.push(address)
      return asked.length === 1 ? local.check(address, protocol) : guardOf().check(address, protocol)
    },
  }
  expect(await attemptAt(origin, guard)).toMatchObject({
    outcome: 'ResolutionError',
    error: '127.0.0.1 is a loopback address; allow it with BARNABAS_ALLOWED_NETWORKS=127.0.0.0/8',
  })
  expect(asked).toEqual(['127.0.0.1', '127.0.0.1'])
  expect(requests).toHaveLength(0)
})

test('a sink that `apply` would refuse is not attempted', async () => {
  const { port, connections } = await receiver((_request, response) => response.end())
  for (const url of [`http://user:pass@127.0.0.1:${port}/`, `ftp://127.0.0.1:${port}/`, 'no URL']) {
    expect(await attemptAt(url, guardOf('127.0.0.0/8')), url).toMatchObject({
      outcome: 'ResolutionError',
      status: null,
    })
  }
  expect(connections).toHaveLength(0)
})

test('a connection that nobody waits for any longer is not made', async () => {
  const { port, connections } = await receiver((_request, response) => response.end())
  const lookups: (() => void)[] = []
  const sender = createWebhookSender({
    addressGuard: guardOf('127.0.0.0/8'),
    resolveAll: (name, callback) => void lookups.push(() => resolvingTo('127.0.0.1')(name, callback)),
  })
  onTestFinished(() => sender.close())
  const url = `http://receiver.invalid:${port}/`
  const late = await sender.attempt([testEvent()], { ...attemptOptions, url, timeoutMs: 20 })
  expect(late.outcome).toBe('TimedOut')

  const inTime = sender.attempt([testEvent()], { ...attemptOptions, url })
  await vi.waitFor(() => expect(lookups).toHaveLength(2), { interval: 1, timeout: 5_000 })
  for (const finish of lookups) finish()
  expect(await inTime).toMatchObject({ outcome: 'Delivered' })
  expect(connections).toHaveLength(1)
})
