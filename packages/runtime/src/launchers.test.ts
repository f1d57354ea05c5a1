import { expect, test } from 'vitest'
import { findLaunchers } from './launchers.ts'

/** `npx -y pnpm@10 start` from a shell, as `/proc` showed it. */
const processes = new Map([
  [50, { parent: 1, commandLine: '-bash', startedAt: '100' }],
  [51, { parent: 50, commandLine: 'npm exec pnpm@10 start', startedAt: '100' }],
  [52, { parent: 51, commandLine: "sh -c 'pnpm' start", startedAt: '100' }],
  [53, { parent: 52, commandLine: 'node /home/me/.npm/_npx/1/node_modules/.bin/pnpm start', startedAt: '100' }],
  [
    54,
    {
      parent: 53,
      commandLine: 'sh -c node --import ./scripts/require-node.mjs services/standalone/main.ts',
      startedAt: '100',
    },
  ],
  [
    55,
    {
      parent: 54,
      commandLine: '/bin/sh /barnabas/node_modules/.bin/node services/standalone/main.ts',
      startedAt: '100',
    },
  ],
])

test.each([51, 52, 53, 54, 55])('the end of launcher %i is noticed', (ended) => {
  const alive = new Map(processes)
  const launchers = findLaunchers(55, (pid) => alive.get(pid) ?? null)
  expect(launchers?.areAlive()).toBe(true)
  alive.delete(ended)
  expect(launchers?.areAlive()).toBe(false)
})

test('the shell of the person is no launcher: it may end while we go on', () => {
  const alive = new Map(processes)
  const launchers = findLaunchers(55, (pid) => alive.get(pid) ?? null)
  alive.delete(50)
  expect(launchers?.areAlive()).toBe(true)
})

test('another process that got the id of a launcher is not that launcher', () => {
  const alive = new Map(processes)
  const launchers = findLaunchers(55, (pid) => alive.get(pid) ?? null)
  alive.set(53, { parent: 1, commandLine: 'vim', startedAt: '200' })
  expect(launchers?.areAlive()).toBe(false)
})

test.each([
  ['a service manager', '/lib/systemd/systemd --system'],
  ['a login shell', '-bash'],
  ['a container’s init', '/sbin/docker-init -- node services/dispatcher/main.ts'],
  ['a test runner', 'node /barnabas/node_modules/vitest/vitest.mjs run'],
])('%s is no launcher', (_name, commandLine) => {
  expect(findLaunchers(7, () => ({ parent: 1, commandLine, startedAt: '100' }))).toBeNull()
})

test('a launcher that calls itself something else meanwhile is still there', () => {
  const alive = new Map(processes)
  const launchers = findLaunchers(55, (pid) => alive.get(pid) ?? null)
  alive.set(53, { parent: 52, commandLine: 'pnpm start', startedAt: '100' })
  expect(launchers?.areAlive()).toBe(true)
})

test('where no process can be read there are none', () => {
  expect(findLaunchers(7, () => null)).toBeNull()
})
