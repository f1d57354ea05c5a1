import { expect, test } from 'vitest'
import { createLogOutput } from './log-output.ts'

/** A pipe with so much room; `read` makes some. */
function pipe(room: number) {
  const laters: (() => void)[] = []
  let text = ''
  let slept = 0
  let isClosed = false
  const takenWhileAsleep: number[] = []
  const output = createLogOutput({
    write(bytes) {
      if (isClosed) throw new Error('EPIPE')
      const taken = Math.min(room, bytes.length)
      text += Buffer.from(bytes.subarray(0, taken)).toString('latin1')
      room -= taken
      return taken
    },
    sleep(ms) {
      slept += ms
      room += takenWhileAsleep.shift() ?? 0
    },
    later: (callback) => laters.push(callback),
  })
  return {
    output,
    takenWhileAsleep,
    written: () => text,
    slept: () => slept,
    laters,
    close: () => (isClosed = true),
    read(bytes: number) {
      room += bytes
      laters.shift()?.()
    },
  }
}

test('what there is room for is written at once, and nothing is looked at later', () => {
  const { output, written, laters } = pipe(100)
  output.write('one\n')
  output.write('two\n')
  expect(written()).toBe('one\ntwo\n')
  expect(laters).toEqual([])
})

test('what a full pipe does not take is written later, in order, and nobody sleeps', () => {
  const { output, written, read, slept, laters } = pipe(6)
  for (const line of ['one\n', 'two\n', 'three\n']) output.write(line)
  expect(written()).toBe('one\ntw')
  read(0)
  expect(written()).toBe('one\ntw')
  read(3)
  expect(written()).toBe('one\ntwo\nt')
  output.write('four\n')
  read(100)
  expect(written()).toBe('one\ntwo\nthree\nfour\n')
  expect(slept()).toBe(0)
  expect(laters).toEqual([])
})

test('a flush writes all of it, and waits as long as the reader takes something', () => {
  const { output, written, takenWhileAsleep } = pipe(2)
  output.write('one\n')
  output.write('two\n')
  takenWhileAsleep.push(...Array.from({ length: 6 }, () => [...Array<number>(900).fill(0), 1]).flat())
  output.flushSync()
  expect(written()).toBe('one\ntwo\n')
})

test('a flush gives up when the reader takes nothing for five seconds', () => {
  const { output, written, slept } = pipe(2)
  output.write('one\n')
  output.flushSync()
  expect(written()).toBe('on')
  expect(slept()).toBe(5_000)
})

test('beyond 4 MiB whoever logs waits for the reader, and nothing is dropped', () => {
  const { output, written, slept, takenWhileAsleep, read } = pipe(0)
  const line = `${'x'.repeat(1024 * 1024 - 1)}\n`
  for (let index = 0; index < 4; index++) output.write(line)
  expect(slept()).toBe(0)
  takenWhileAsleep.push(3 * line.length)
  output.write(line)
  expect(slept()).toBeGreaterThan(0)
  expect(written()).toHaveLength(3 * line.length)
  read(10 * line.length)
  expect(written()).toBe(line.repeat(5))
})

test('a reader that has gone stops nobody', () => {
  const { output, close, slept } = pipe(2)
  output.write('one\n')
  close()
  output.flushSync()
  output.write('two\n')
  output.flushSync()
  expect(slept()).toBe(0)
})
