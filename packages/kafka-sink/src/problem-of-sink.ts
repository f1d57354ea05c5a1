import { kafkaSinkOf } from '@barnabas/core'
import type { KafkaSink } from '@barnabas/core'
import { connectionProblemOf } from '@barnabas/kafka'
import type { SinkClient } from './sink-client.ts'

/** A sink as sentences name it. */
export function sinkName({ cluster, topic }: KafkaSink): string {
  return cluster === null ? `topic ${topic}` : `topic ${topic} of the cluster ${cluster}`
}

export function missingText(sink: KafkaSink): string {
  return `sink: ${sinkName(sink)} does not exist, or may not be seen; make it, or allow us to write to it, then say \`barnabas start\``
}

/** What no retry can mend; null for nothing, and when nobody answers in time: a broker that is away comes back. */
export async function problemOfSink(
  url: string,
  withinMs: number,
  clientOf: (cluster: string | null) => SinkClient,
): Promise<string | null> {
  const sink = kafkaSinkOf(url)
  if (sink === null) return null
  const client = clientOf(sink.cluster)
  if (client.kind === 'unknown') return client.message
  const asked = client.kafka.admin.topics().then(
    (topics) => (topics.has(sink.topic) ? null : missingText(sink)),
    (error: unknown) => {
      const { code, message } = connectionProblemOf(error)
      const isForGood = code === 'AUTHENTICATION' || code === 'NOT_AUTHORIZED'
      return isForGood ? `sink: ${sinkName(sink)} may not be written to: ${message}` : null
    },
  )
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => (timer = setTimeout(() => resolve(null), withinMs)))
  const problem = await Promise.race([asked, late])
  clearTimeout(timer)
  return problem
}
