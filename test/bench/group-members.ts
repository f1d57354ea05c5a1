import { setTimeout as sleep } from 'node:timers/promises'
import { Kafka, logLevel } from 'kafkajs'

const lookEveryMs = 50
const withinMs = 120_000

/** Waits until the group has exactly so many members and all of them know their partitions. */
export async function untilMembers(brokers: string, groupId: string, members: number): Promise<void> {
  const admin = new Kafka({ clientId: 'bench', brokers: brokers.split(','), logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  try {
    for (const since = performance.now(); performance.now() - since < withinMs; await sleep(lookEveryMs)) {
      const { groups } = await admin.describeGroups([groupId])
      if (groups.some((group) => group.state === 'Stable' && group.members.length === members)) return
    }
    throw new Error(`the group ${groupId} does not come to ${members} members within ${withinMs / 1_000} s`)
  } finally {
    await admin.disconnect()
  }
}
