import { parseCommand } from '@barnabas/core'
import type { Command, Names } from '@barnabas/core'
import type { KafkaClient, Producer, ProduceResult } from '@barnabas/kafka'
import type { Logger } from './logger.ts'

/** `barnabas.commands`: what people and receivers say to the services, followed from the topic's beginning. */
export interface CommandLog {
  /** Resolves when the topic was read to its end as it was at the call. */
  start(): Promise<void>
  /** Called for every command; `isPast` for those that stood there before `start` was called. */
  onCommand(listener: (command: Command, isPast: boolean) => void): void
  /** One try; what `unavailable` means, see `ProduceResult`. */
  write(command: Command): Promise<ProduceResult>
  stop(): Promise<void>
}

export interface CommandLogOptions {
  readonly kafka: Pick<KafkaClient, 'logReader' | 'producer'>
  readonly names: Names
  readonly logger: Logger
}

export function openCommandLog({ kafka, names, logger }: CommandLogOptions): CommandLog {
  const topic = names.commands
  const listeners: ((command: Command, isPast: boolean) => void)[] = []
  let started = false
  let producer: Producer | null = null

  const reader = kafka.logReader({
    topic,
    from: 'beginning',
    onRecord({ value, offset }) {
      const command = parseCommand(value)
      if (command === null) logger.warn({ topic, offset }, 'a record of the commands topic is no command; passed over')
      else for (const listener of listeners) listener(command, !started)
    },
    onTrouble(trouble) {
      if (trouble !== null) logger.warn({ topic, trouble }, 'commands cannot be read; nobody can be heard meanwhile')
    },
  })

  return {
    async start() {
      await reader.start()
      started = true
    },
    onCommand: (listener) => void listeners.push(listener),
    write(command) {
      producer ??= kafka.producer()
      const key = command.subscription === null ? null : Buffer.from(command.subscription)
      const value = Buffer.from(JSON.stringify(command))
      return producer.produce({ topic, key, value, headers: {} })
    },
    async stop() {
      await reader.stop()
      await producer?.close()
    },
  }
}
