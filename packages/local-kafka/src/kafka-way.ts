import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { findJava, type Java } from './java.ts'
import { areJarsCached } from './kafka-jars.ts'
import { LocalKafkaError } from './local-kafka-error.ts'

/** Where a Kafka comes from. */
export type KafkaWay =
  /** `KAFKA_BROKERS` names one. */
  | { readonly kind: 'given'; readonly brokers: string }
  /** `startLocalKafka` can run one. */
  | { readonly kind: 'jdk'; readonly java: Java }
  /** `startContainerKafka` can run one. */
  | { readonly kind: 'container' }

/** What was found on this machine, each with the reason when it is not usable. */
export interface KafkaWaysFound {
  readonly java: Java | { readonly missing: string }
  readonly maven: 'found' | { readonly missing: string }
}

/**
 * The first way that applies: `KAFKA_BROKERS`; a JDK 17 or newer with Maven (or the jars already in the cache); a
 * container engine that answers. `BARNABAS_TEST_KAFKA=container` asks for the last without looking at the others.
 * Throws `NoKafka` when there is none, naming all three and why each does not apply.
 */
export async function findKafkaWay({ env }: { readonly env: NodeJS.ProcessEnv }): Promise<KafkaWay> {
  if (env['BARNABAS_TEST_KAFKA'] === 'container') {
    const engine = await findContainerEngine()
    if (engine === 'answers') return { kind: 'container' }
    throw new LocalKafkaError(
      'NoKafka',
      `BARNABAS_TEST_KAFKA=container asks for a Kafka in a container, but no container engine answers (${engine.missing}): ` +
        'start Docker or Podman, or unset it.',
    )
  }
  const brokers = env['KAFKA_BROKERS']?.trim()
  if (brokers) return { kind: 'given', brokers }
  const [java, maven] = await Promise.all([tryJava(env), findMaven(env)])
  if ('command' in java && maven === 'found') return { kind: 'jdk', java }
  const engine = await findContainerEngine()
  if (engine === 'answers') return { kind: 'container' }
  throw new LocalKafkaError('NoKafka', noKafkaMessage({ java, maven }, engine.missing))
}

export function noKafkaMessage({ java, maven }: KafkaWaysFound, engineMissing: string): string {
  const jdk = [
    'missing' in java ? java.missing : `Java ${java.version} is there.`,
    maven === 'found' ? 'Maven is there.' : maven.missing,
  ].join(' ')
  return [
    'There is no Kafka to run on. One of these three is needed:',
    '  1. Set KAFKA_BROKERS=host:port to use a Kafka that runs already.',
    `  2. Install a JDK 17 or newer and Maven to run one here. ${jdk}`,
    `  3. Start a container engine (Docker or Podman). None answers: ${engineMissing}.`,
  ].join('\n')
}

async function tryJava(env: NodeJS.ProcessEnv): Promise<Java | { missing: string }> {
  try {
    return await findJava(env)
  } catch (error) {
    if (error instanceof LocalKafkaError) return { missing: error.message }
    throw error
  }
}

async function findMaven(env: NodeJS.ProcessEnv): Promise<'found' | { missing: string }> {
  if (await areJarsCached(env)) return 'found'
  try {
    await promisify(execFile)('mvn', ['-v'], { env })
    return 'found'
  } catch {
    return { missing: 'No working `mvn` is on the path.' }
  }
}

async function findContainerEngine(): Promise<'answers' | { missing: string }> {
  try {
    // Slow to load, and needed by few.
    const { getContainerRuntimeClient } = await import('testcontainers')
    await getContainerRuntimeClient()
    return 'answers'
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) }
  }
}
