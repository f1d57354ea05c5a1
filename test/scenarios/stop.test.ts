import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { apply, createSourceTopic, lagOf, removeEverything } from '../support/barnabas.ts'
import { binaryEvent } from '../support/events.ts'
import { header } from '../support/followed-topics.ts'
import { createTopic, plainKafka, produce, randomName, readTopic, testBrokers } from '../support/kafka.ts'
import { runProcess } from '../support/processes.ts'
import type { RunningProcess } from '../support/processes.ts'
import { startReceiver } from '../support/receiver.ts'
import type { Receiver } from '../support/receiver.ts'
import {
  canRunOwnBroker,
  hasTerminal,
  messageOf,
  newDataDir,
  runOnTerminal,
  startEnvironment,
  startOn,
} from '../support/start.ts'

describe.skipIf(!(await canRunOwnBroker()) || !hasTerminal())('Ctrl-C', () => {
  test('ends start within 10 s, broker last; an attempt that hangs is cut off, counted, and goes on with the next start', async () => {
    const dataDir = await newDataDir()
    onTestFinished(() => dataDir.remove())
    const receiver = await startReceiver(({ attempt }) => (attempt === 1 ? 'hang' : 200))
    onTestFinished(() => receiver.close())
    const env = { ...startEnvironment(dataDir), BARNABAS_LOG_LEVEL: 'debug' }

    const run = runOnTerminal(`'${process.execPath}' services/standalone/main.ts`, env)
    onTestFinished(() => run.kill())
    await run.until(/Ctrl-C here ends everything/)
    const kafka = plainKafka([`127.0.0.1:${dataDir.port}`])
    await createTopic(kafka, 'orders')
    // Longer than the drain by far, so that the next start and not this one makes attempt 2.
    await apply(
      'barnabas',
      [{ id: 'hangs', topics: ['orders'], sink: receiver.url, timeout: '5m', retry: { schedule: ['10s', '10m'] } }],
      { ...env, KAFKA_BROKERS: `127.0.0.1:${dataDir.port}` },
    )
    await produce(kafka, 'orders', [binaryEvent('hanging')])
    await receiver.until((requests) => requests.length === 1)

    const interruptedAt = Date.now()
    run.interrupt()
    expect(await run.exited).toBe(0)
    const endedAt = Date.now()
    const text = run.text()
    expect(endedAt - interruptedAt, text).toBeLessThan(10_000)
    expect(text.indexOf('attempt 1: Canceled, next attempt at')).toBeGreaterThan(-1)
    const closed = [...text.matchAll(/closed.*"part":"(\w[\w ]*)"/g)].map(([, part]) => part)
    expect(closed.length).toBeGreaterThan(4)
    expect(closed.at(-1)).toBe('broker')

    const next = startOn(dataDir)
    onTestFinished(() => next.kill())
    await receiver.until((requests) => requests.length === 2)
    expect(receiver.requests.map(({ attempt }) => attempt)).toEqual([1, 2])
    const [parked] = await readTopic(kafka, 'barnabas.retry.10s')
    expect(parked && header(parked, 'barnabas-attempts')).toBe('1')
    expect(parked && header(parked, 'barnabas-last-outcome')).toBe('Canceled')
    expect(Number(parked?.timestamp)).toBeLessThan(endedAt)
    expect(receiver.requests[1]!.time).toBeGreaterThanOrEqual(Date.parse(header(parked!, 'barnabas-due-time') ?? ''))
  })
})

describe('SIGTERM drains', () => {
  const prefix = randomName('stop')
  const env = {
    KAFKA_BROKERS: testBrokers().join(','),
    BARNABAS_PREFIX: prefix,
    BARNABAS_ALLOWED_NETWORKS: '127.0.0.0/8',
    BARNABAS_PARTITIONS: '1',
    BARNABAS_TIER_PARTITIONS: '1',
    BARNABAS_DRAIN_TIMEOUT: '1s',
  }
  const running: RunningProcess[] = []
  let receiver: Receiver
  let topic: string

  async function run(name: 'dispatcher' | 'retrier' | 'dead-letter'): Promise<RunningProcess> {
    const started = runProcess(`services/${name}/main.ts`, env)
    running.push(started)
    await started.line(new RegExp(`${name} is ready`))
    return started
  }
  const told = (service: RunningProcess) => service.lines.map(messageOf).join('\n')

  beforeAll(async () => {
    receiver = await startReceiver(() => 'hang')
    topic = await createSourceTopic(prefix, 'stop')
  })
  afterAll(async () => {
    await Promise.all(running.map((each) => each.kill('SIGKILL')))
    await receiver?.close()
    await removeEverything(prefix)
  })

  test('each service: what hangs is cut off after the drain time-out, counted and parked; exit status 0', async () => {
    const [dispatcher, retrier, deadLetter] = [await run('dispatcher'), await run('retrier'), await run('dead-letter')]
    const subscription = { id: 'hangs', topics: [topic], sink: receiver.url, timeout: '5m' }
    await apply(prefix, [{ ...subscription, retry: { schedule: ['1s', '10m'] } }], env)
    await produce(plainKafka(), topic, [binaryEvent('one')])
    await receiver.until((requests) => requests.length === 1)

    const before = Date.now()
    expect(await dispatcher.kill('SIGTERM')).toBe(0)
    const tookMs = Date.now() - before
    expect(tookMs).toBeGreaterThan(950)
    expect(tookMs).toBeLessThan(5_000)
    expect(told(dispatcher)).toContain('attempt 1: Canceled, next attempt at')
    expect(await lagOf(`${prefix}.subscription.hangs`, topic)).toBe(0)

    await receiver.until((requests) => requests.length === 2)
    expect(receiver.requests[1]?.attempt).toBe(2)
    expect(await retrier.kill('SIGTERM')).toBe(0)
    expect(told(retrier)).toContain('attempt 2: Canceled, next attempt at')
    expect(await lagOf(`${prefix}.retrier`, `${prefix}.retry.1s`)).toBe(0)
    const [parked] = await readTopic(plainKafka(), `${prefix}.retry.10m`)
    expect(parked && header(parked, 'barnabas-attempts')).toBe('2')

    expect(await deadLetter.kill('SIGTERM')).toBe(0)
  })

  test('and a stopped retrier leaves nothing of what is done in its tiers', async () => {
    const admin = plainKafka().admin()
    await admin.connect()
    onTestFinished(() => admin.disconnect())
    expect(await admin.fetchTopicOffsets(`${prefix}.retry.1s`)).toEqual([
      { partition: 0, low: '1', high: '1', offset: '1' },
    ])
  })
})
