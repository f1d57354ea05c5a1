import { expect, test } from 'vitest'
import { createLogger, type LoggerOptions } from './logger.ts'

function lines(options: Partial<LoggerOptions>, write: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const written: string[] = []
  const destination = { write: (text: string) => void written.push(text) }
  write(createLogger({ service: 'dispatcher', level: 'info', destination, ...options }))
  return written
}

test('a line is one JSON object with service, pid and RFC 3339 time', () => {
  const [line, ...rest] = lines({}, (logger) => logger.info({ subscription: 'a' }, 'attempt'))
  expect(rest).toEqual([])
  expect(JSON.parse(line ?? '')).toEqual({
    level: 30,
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
    service: 'dispatcher',
    pid: process.pid,
    subscription: 'a',
    msg: 'attempt',
  })
})

test('the level holds back what is below it', () => {
  const written = lines({ level: 'warn' }, (logger) => {
    logger.info('no')
    logger.warn('yes')
  })
  expect(written).toHaveLength(1)
})

test.each([
  { password: 'hunter2' },
  { kafka: { sasl: { username: 'me', password: 'hunter2' } } },
  { sasl: { password: 'hunter2' } },
  { ssl: { key: 'hunter2' } },
  { kafka: { ssl: { key: 'hunter2' } } },
  { headers: { authorization: 'hunter2' } },
  { request: { headers: { Authorization: 'hunter2', cookie: 'hunter2' } } },
])('%j is written without the secret', (fields) => {
  const [line] = lines({}, (logger) => logger.info(fields, 'oops'))
  expect(line).toContain('(secret)')
  expect(line).not.toContain('hunter2')
})

test('an error is written with its message and stack', () => {
  const [line] = lines({}, (logger) => logger.error({ err: new Error('broken') }, 'failed'))
  expect(JSON.parse(line ?? '')).toMatchObject({
    err: { message: 'broken', stack: expect.stringContaining('logger.test.ts') as string },
  })
})

test('a readable line is one line, written at once, with the fields and without pid', () => {
  const written = lines({ pretty: true }, (logger) => logger.info({ subscription: 'orders' }, 'attempt'))
  expect(written).toEqual([expect.stringMatching(/^[^\n]+\n$/)])
  const text = written.join('')
  expect(text).toContain('attempt')
  expect(text).toContain('orders')
  expect(text).not.toContain(String(process.pid))
  expect(() => JSON.parse(text) as unknown).toThrow()
})
