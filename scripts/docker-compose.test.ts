import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { environmentVariables } from '@barnabas/runtime'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'

interface ComposeService {
  readonly image: string
  readonly command?: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly container_name?: string
  readonly ports?: readonly string[]
  readonly restart: string
  readonly stop_grace_period: string
  readonly depends_on: Readonly<Record<string, { readonly condition: string }>>
}

const read = (file: string) => readFileSync(join(import.meta.dirname, '..', file), 'utf8')
const compose = parse(read('docker-compose.yml'), { merge: true }) as { services: Record<string, ComposeService> }
const dockerfile = read('Dockerfile')
const { kafka, ...services } = compose.services
const ours = Object.entries(services)
const known = environmentVariables.map(({ name }) => name)

test('every service of this version is there', () => {
  expect(Object.keys(services).toSorted()).toEqual(['dead-letter', 'dispatcher', 'retrier'])
})

describe.each(ours)('%s', (name, service) => {
  test('runs the command of its name, which the image has', () => {
    expect(service.command).toEqual([name])
    expect(/for service in ([^;]+);/.exec(dockerfile)?.[1]?.split(' ')).toContain(name)
  })

  test('sets only variables that Barnabas reads', () => {
    expect(known).toEqual(expect.arrayContaining(Object.keys(service.environment)))
    const taken = Object.values(service.environment).flatMap((value) => value.match(/(?<=\$\{)\w+/g) ?? [])
    expect(known).toEqual(expect.arrayContaining(taken))
  })

  test('can be scaled: neither its name nor a port of the host is its own', () => {
    expect(service.container_name).toBeUndefined()
    expect(service.ports).toBeUndefined()
  })

  test('waits for Kafka, comes back after a crash, and has the time to drain', () => {
    expect(service.depends_on).toEqual({ kafka: { condition: 'service_healthy' } })
    expect(service.restart).toBe('unless-stopped')
    const drainTimeout = environmentVariables.find((variable) => variable.name === 'BARNABAS_DRAIN_TIMEOUT')?.default
    expect(parseInt(service.stop_grace_period)).toBeGreaterThan(parseInt(drainTimeout ?? ''))
  })

  test('finds Kafka where it is advertised inside', () => {
    const advertised = kafka?.environment['KAFKA_ADVERTISED_LISTENERS']?.split(',')
    expect(advertised).toContain(`INTERNAL://${service.environment['KAFKA_BROKERS']}`)
  })
})

test('Kafka is reachable from the host, and from nowhere else outside', () => {
  expect(kafka?.environment['KAFKA_ADVERTISED_LISTENERS']).toContain('EXTERNAL://localhost:9092')
  expect(kafka?.ports).toEqual(['127.0.0.1:9092:9092'])
})

test('the image sets only variables that Barnabas reads, and checks the port that it sets', () => {
  const block = /^ENV (?:.*\\\n)*.*$/m.exec(dockerfile)?.[0] ?? ''
  const names = [...block.matchAll(/(\w+)=/g)].map((match) => match[1])
  expect(names.filter((name) => name !== 'NODE_ENV')).toEqual(['BARNABAS_HTTP_HOST', 'BARNABAS_HTTP_PORT'])
  expect(known).toEqual(expect.arrayContaining(names.filter((name) => name !== 'NODE_ENV')))
  expect(dockerfile).toMatch(/^HEALTHCHECK (?:.*\\\n)*.*\$\{process\.env\.BARNABAS_HTTP_PORT\}\/livez/m)
})

test('no process of the image is root', () => {
  expect(dockerfile.match(/^USER .*$/gm)).toEqual(['USER node'])
})
