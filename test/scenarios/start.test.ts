import { dirname } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { plainKafka, randomName, testBrokers } from '../support/kafka.ts'
import { removeEverything } from '../support/barnabas.ts'
import { runProcess } from '../support/processes.ts'
import {
  canRunOwnBroker,
  freePort,
  hasTerminal,
  messageOf,
  newDataDir,
  runOnTerminal,
  startEnvironment,
  startOn,
  takenPort,
} from '../support/start.ts'
import type { DataDir, OwnStart } from '../support/start.ts'

const start = 'services/standalone/main.ts'

describe.skipIf(!(await canRunOwnBroker()))('start with a broker of its own', () => {
  let dataDir: DataDir
  let run: OwnStart
  let readyAt = 0

  beforeAll(async () => {
    dataDir = await newDataDir()
    run = startOn(dataDir, { BARNABAS_DEMO: 'true' })
    readyAt = (await run.ready()).at
  })
  afterAll(async () => {
    await run?.kill()
    await dataDir?.remove()
  })

  test('says what it is doing, plays four stories within 20 s, and removes what it made', async () => {
    const last = await run.process.line(/Ctrl-C here ends everything/)
    const messages = run.messages()
    const order = [
      /formatting/,
      /starting Apache Kafka 4\.4\.0 on 127\.0\.0\.1:\d+, its log is .*kafka\.log/,
      /^Barnabas is ready on 127\.0\.0\.1:\d+$/,
      /^demo: four events/,
      /^demo: barnabas-demo-retried: attempt 3: Delivered \(200\)$/,
      /^demo: played; its topics and subscriptions are removed$/,
      /^Send an event of your own/,
    ].map((line) => messages.findIndex((message) => line.test(message)))
    expect(order).not.toContain(-1)
    expect(order).toEqual(order.toSorted((a, b) => a - b))

    const time = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`
    const stories = {
      delivered: ['attempt 1: Delivered (204)'],
      retried: ['attempt 1: Busy (503), next', 'attempt 2: Busy (503), next', 'attempt 3: Delivered (200)'],
      refused: [
        'attempt 1: BadRequest (400), dead letter in barnabas-demo.dead-letter: UndeliverableDueToHttpBadRequest',
      ],
      exhausted: [
        'attempt 1: Busy (503), next',
        'attempt 2: Busy (503), next',
        'attempt 3: Busy (503), dead letter in barnabas-demo.dead-letter: MaxDeliveryAttemptsExceeded',
      ],
    }
    const nextAttempt = new RegExp(` attempt due at ${time}$`)
    for (const [name, expected] of Object.entries(stories)) {
      const told = messages
        .filter((message) => message.startsWith(`demo: barnabas-demo-${name}: attempt`))
        .map((message) => message.replace(`demo: barnabas-demo-${name}: `, ''))
      expect(told.map((line) => line.replace(nextAttempt, ''))).toEqual(expected)
      for (const line of told.filter((each) => each.includes(', next'))) expect(line).toMatch(nextAttempt)
    }
    const { time: endedAt } = JSON.parse(last) as { readonly time: string }
    expect(Date.parse(endedAt) - readyAt).toBeLessThan(20_000)

    const admin = plainKafka([(await run.ready()).brokers]).admin()
    await admin.connect()
    onTestFinished(() => admin.disconnect())
    expect((await admin.listTopics()).filter((topic) => topic.includes('demo'))).toEqual([])
    await expect
      .poll(async () => (await admin.listGroups()).groups.filter(({ groupId }) => groupId.includes('demo')))
      .toEqual([])
  })

  test('prints three commands that work as they stand', async () => {
    await run.process.line(/Ctrl-C here ends everything/)
    const port = await freePort()
    const command = (name: string) => {
      const line = run.messages().find((message) => message.trimStart().startsWith(name))
      // Port 3000 may be in use where the test runs.
      return (line?.slice(line.indexOf(':') + 1).trim() ?? '').replaceAll('3000', String(port))
    }
    // The node of the tests and not a wrapper around it, so that its pid is the one to end.
    const env = {
      ...startEnvironment(dataDir),
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      // No question to the registry whether there is a newer pnpm.
      npm_config_prefer_offline: 'true',
    }
    const shell = (text: string) => runProcess('-e', env, [inShell, text])
    const receiver = shell(`${command('1. receive')} & echo $! && wait`)
    const receiverPid = Number(await receiver.line(/^\d+$/))
    onTestFinished(() => void process.kill(receiverPid))

    const subscribe = shell(command('2. subscribe'))
    expect(await subscribe.exited, subscribe.lines.join('\n')).toBe(0)
    expect(subscribe.lines.join('\n')).toMatch(/first created/)
    const send = shell(command('3. send'))
    expect(await send.exited, send.lines.join('\n')).toBe(0)
    expect(await receiver.line(/order\.created/)).toBe('order.created {"number": 1}')
  })

  test('refuses a second start on its data directory, and goes on itself', async () => {
    const second = startOn(dataDir)
    expect(await second.process.exited).toBe(1)
    expect(second.process.lines.at(-1)).toContain(dataDir.path)
    expect(second.process.lines.at(-1)).toMatch(/in use|uses it/)
    expect(run.process.child.exitCode).toBeNull()
  })

  test('ends with status 1 and the name of the log when its broker dies', async () => {
    process.kill(await dataDir.brokerPid(), 'SIGKILL')
    expect(await run.process.exited).toBe(1)
    expect(run.messages().join('\n')).toContain(
      `The local Kafka broker ended while it was in use (SIGKILL). Its log is ${dataDir.path}/kafka.log`,
    )
  })
})

describe('start refuses with one sentence', () => {
  test('a port for its broker that is taken', async () => {
    const [dataDir, taken] = [await newDataDir(), await takenPort()]
    onTestFinished(() => taken.release())
    onTestFinished(() => dataDir.remove())
    const env = { ...dataDir.env, BARNABAS_KAFKA_PORT: String(taken.port), BARNABAS_HTTP_PORT: '0' }
    const refused = runProcess(start, env)
    expect(await refused.exited).toBe(1)
    expect(refused.lines.at(-1)).toContain(`Port ${taken.port} of 127.0.0.1 is taken`)
  })

  test('a port for its health that is taken', async () => {
    const taken = await takenPort()
    onTestFinished(() => taken.release())
    const refused = runProcess(start, {
      KAFKA_BROKERS: testBrokers().join(','),
      BARNABAS_HTTP_PORT: String(taken.port),
    })
    expect(await refused.exited).toBe(1)
    expect(refused.lines.at(-1)).toContain(`${taken.port}`)
    expect(refused.lines.at(-1)?.match(/set BARNABAS_HTTP_PORT to another one/g)).toHaveLength(1)
  })

  test.each([
    { BARNABAS_SESSION_TIMEOUT: 'soon' },
    { BARNABAS_PARTITIONS: '0' },
    { BARNABAS_DEMO: 'perhaps' },
    { BARNABAS_ALLOWED_NETWORKS: '10.0.0.0/40' },
    { KAFKA_BROKERS: 'no port' },
  ])('the environment %j', async (env) => {
    const refused = runProcess(start, env as unknown as Record<string, string>)
    const [[name, value] = ['', '']] = Object.entries(env)
    expect(await refused.exited).toBe(1)
    expect(refused.lines).toHaveLength(1)
    expect(refused.lines[0]).toContain(name)
    expect(refused.lines[0]).toContain(value)
  })

  test('brokers at which no Kafka answers', async () => {
    const port = await freePort()
    const refused = runProcess(start, { KAFKA_BROKERS: `127.0.0.1:${port}`, BARNABAS_HTTP_PORT: '0' })
    expect(await refused.exited).toBe(1)
    expect(refused.lines.at(-1)).toContain(`no Kafka answers at 127.0.0.1:${port}`)
  })
})

describe('start on a Kafka that was named', () => {
  const env = (prefix: string) => ({
    KAFKA_BROKERS: testBrokers().join(','),
    BARNABAS_PREFIX: prefix,
    BARNABAS_HTTP_PORT: '0',
    BARNABAS_PARTITIONS: '1',
    BARNABAS_TIER_PARTITIONS: '1',
  })

  test('plays no demo by itself, and logs JSON where there is no terminal', async () => {
    const prefix = randomName('start')
    const run = runProcess(start, env(prefix))
    onTestFinished(() => removeEverything(prefix))
    onTestFinished(async () => void (await run.kill('SIGKILL')))
    await run.line(/Ctrl-C here ends everything/)
    expect(await run.kill('SIGTERM')).toBe(0)
    expect(run.lines.map(messageOf).filter((message) => message.startsWith('demo'))).toEqual([])
    for (const line of run.lines) expect(JSON.parse(line)).toMatchObject({ service: 'start', pid: run.child.pid })
  })

  test.skipIf(!hasTerminal())('writes readable lines on a terminal, and ends with Ctrl-C', async () => {
    const prefix = randomName('start')
    const run = runOnTerminal(`'${process.execPath}' ${start}`, env(prefix))
    onTestFinished(() => removeEverything(prefix))
    onTestFinished(() => run.kill())
    await run.until(/Ctrl-C here ends everything/)
    run.interrupt()
    expect(await run.exited).toBe(0)
    const lines = run.text().split('\n')
    expect(lines.filter((line) => line.startsWith('{'))).toEqual([])
    expect(lines.find((line) => line.includes('Barnabas is ready on'))).toMatch(/^\[\d\d:\d\d:\d\d\.\d{3}\] INFO/)
    expect(run.text()).not.toContain('demo:')
  })
})

/** For `node -e`: a shell with what stands in the first argument, given the same standard output. */
const inShell = `require('child_process').spawn('sh', ['-c', process.argv[1]], { stdio: 'inherit' }).on('exit', (code) => process.exit(code))`
