import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { LocalKafkaError } from './local-kafka-error.ts'

/** Kafka 4 brokers need it (Apache Kafka documentation, "Java Version"). */
const oldestJavaMajor = 17

export interface Java {
  /** The command to run. */
  readonly command: string
  /** As it names itself: "17.0.15". */
  readonly version: string
}

export interface JavaVersion {
  readonly major: number
  readonly version: string
}

/** Reads what `java -version` prints; null when it is none of the known forms ("1.8.0_292" is major 8). */
export function parseJavaVersion(output: string): JavaVersion | null {
  const version = /\bversion "([^"]+)"/.exec(output)?.[1]
  const numbers = version === undefined ? null : /^(?:1\.)?(\d+)/.exec(version)
  if (version === undefined || numbers?.[1] === undefined) return null
  return { version, major: Number(numbers[1]) }
}

/**
 * The JDK to run the broker with: that of `JAVA_HOME` when it is set, otherwise the `java` on the path.
 * Throws `JavaMissing` or `JavaTooOld`.
 */
export async function findJava(env: NodeJS.ProcessEnv): Promise<Java> {
  const home = env['JAVA_HOME']
  const command = home ? join(home, 'bin', 'java') : 'java'
  const from = home ? `JAVA_HOME=${home}` : 'the path'
  let output: string
  try {
    // It prints to stderr.
    const answer = await promisify(execFile)(command, ['-version'], { env })
    output = answer.stderr + answer.stdout
  } catch (error) {
    throw new LocalKafkaError(
      'JavaMissing',
      `No working Java was found through ${from}: install a JDK ${oldestJavaMajor} or newer, or set JAVA_HOME to one.`,
      { cause: error },
    )
  }
  const found = parseJavaVersion(output)
  if (found === null || found.major < oldestJavaMajor) {
    const version = found?.version ?? `an unknown version (${output.trim().split('\n')[0] ?? ''})`
    throw new LocalKafkaError(
      'JavaTooOld',
      `The Java found through ${from} is ${version}, Kafka needs ${oldestJavaMajor} or newer: ` +
        'install one, or set JAVA_HOME to it.',
    )
  }
  return { command, version: found.version }
}
