import { chosenBlock, nothingSaid, parseCommand, placeText, sayAt } from '@barnabas/core'
import type { BlockedEvent, Command, StatusRecord } from '@barnabas/core'
import type { Cluster } from './cluster.ts'
import { operatorOf, putOnRecord } from './operator.ts'
import { Refusal } from './refusal.ts'
import type { Store } from './store.ts'
import type { Terminal } from './terminal.ts'
import { untilStatus } from './until-status.ts'

/** A block that is resolved, and what the status says without it. */
export interface ResolvedBlock {
  readonly block: BlockedEvent
  readonly status: StatusRecord
}

/**
 * Says what is to become of a block, and waits until it is gone. Who is first in `barnabas.commands` is heard; a
 * `Refusal` tells anybody else so, and what else keeps it from being done.
 */
export async function resolveBlock(
  cluster: Cluster,
  store: Store,
  terminal: Terminal,
  {
    id,
    command,
    event,
  }: { readonly id: string; readonly command: 'start' | 'skip'; readonly event: string | undefined },
): Promise<ResolvedBlock> {
  const present = store.statuses.get(id)
  const chosen = chosenBlock(present?.blocked ?? [], event)
  if (chosen.kind === 'refused') throw new Refusal(`${id}: ${chosen.message}`)
  const { topic, partition, offset, since } = chosen.block
  const block = { topic, partition, offset, since }
  const said = {
    subscription: id,
    by: operatorOf(terminal),
    at: sayAt(Date.now(), present?.generation ?? 0, present ?? nothingSaid),
  }
  const at = await putOnRecord(cluster, { command, block, ...said })
  const isGone = ({ blocked }: StatusRecord) => !blocked.some((each) => isSame(each, block))
  const status = await untilStatus(store, id, isGone)
  const before = await firstWord(cluster, id, chosen.block, at)
  if (before !== null && before.command !== command) {
    throw new Refusal(`${id}: ${before.by} has said ${before.command} of ${placeText(block)} before, at ${before.at}`)
  }
  if (status === null) {
    throw new Refusal(`${id}: no dispatcher answers; one that reads ${topic}/${partition} later does it by itself`)
  }
  return { block: chosen.block, status }
}

/** What was said of the block before the command at this offset. */
async function firstWord(
  { kafka, names }: Pick<Cluster, 'kafka' | 'names'>,
  id: string,
  block: BlockedEvent,
  to: number,
): Promise<Extract<Command, { command: 'start' | 'skip' }> | null> {
  for await (const { records } of kafka.readRange({ topic: names.commands, partition: 0, from: 0, to })) {
    for (const { value } of records) {
      const command = parseCommand(value)
      if (command?.command !== 'start' && command?.command !== 'skip') continue
      if (command.subscription === id && command.block !== undefined && isSame(command.block, block)) return command
    }
  }
  return null
}

type Block = Pick<BlockedEvent, 'topic' | 'partition' | 'offset' | 'since'>

function isSame(one: Block, other: Block): boolean {
  return placeText(one) === placeText(other) && one.since === other.since
}

/** "…; Running", or what it is still blocked at. */
export function afterwards({ blocked, status, reason }: StatusRecord): string {
  if (blocked.length === 0) return status === 'Running' ? status : `${status}: ${reason}`
  return `still blocked at ${blocked.map(placeText).join(', ')}`
}

export function eventText({ eventId, ...block }: BlockedEvent): string {
  return eventId === null ? placeText(block) : `event ${eventId} (${placeText(block)})`
}
