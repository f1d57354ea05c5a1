/** Whoever reads the log of a service slowly holds it up by nothing, and gets every line, however the service ends. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

test.each([
  { end: 'a signal', last: 'stopped', status: 0 },
  { end: 'an uncaught error', last: 'uncaught exception', status: 1 },
])('a service goes on while nobody reads its log; at its end by $end no line is missing', async ({ last, status }) => {
  const child = spawn(process.execPath, ['test/support/talkative.ts'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  // Ten times what a pipe takes, and it is not looked at yet.
  expect(await once(child, 'message')).toEqual(['logged', undefined])
  if (status === 0) child.kill('SIGTERM')
  else child.send('end')
  const lines = (await text(child.stdout!))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { readonly msg: string; readonly line?: number })
  expect(lines.filter(({ msg }) => msg === 'counted').map(({ line }) => line)).toEqual(
    Array.from({ length: 1_000 }, (_each, index) => index),
  )
  expect(lines.at(-1)?.msg).toBe(last)
  expect((await exited)[0]).toBe(status)
})
