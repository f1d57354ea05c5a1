import { expect, test } from 'vitest'
import { createTargetRetention } from './target-retention.ts'

const dayMs = 86_400_000
const target = 'kafka://audit/letters'

/** A topic of one partition with a record each hour since the beginning of time, and with this retention. */
function surroundings(retention: string | undefined) {
  const warnings: string[] = []
  const asked: number[] = []
  let now = 100 * dayMs
  const retentions = createTargetRetention({
    admin: {
      async topicConfig(topics) {
        const config: Record<string, string> = retention === undefined ? {} : { 'retention.ms': retention }
        return new Map(topics.map((topic) => [topic, config]))
      },
      async offsetsSince([topic = ''], at) {
        asked.push(at)
        const offset = Math.ceil(at / 3_600_000)
        return [{ topic, partition: 0, offset: offset > 100 * 24 ? null : offset }]
      },
    },
    target,
    now: () => now,
    logger: { debug() {}, info() {}, warn: (_, message) => void warnings.push(message), error() {} },
  })
  const look = (hoursAgo: readonly number[], afterMs = 60_000) => {
    now += afterMs
    return retentions.look(hoursAgo.map((hours) => ({ topic: 'dead', partition: 0, offset: 100 * 24 - hours })))
  }
  return { look, warnings, asked }
}

test('B7: what a target has not got is warned of at 80 % of its retention, once, and anew after it was well', async () => {
  const { look, warnings } = surroundings(String(10 * dayMs))
  await look([7.5 * 24])
  expect(warnings).toEqual([])
  await look([8.5 * 24])
  await look([9 * 24])
  expect(warnings).toEqual([
    `dead holds dead letters that ${target} has not got and that its retention.ms (${10 * dayMs}) takes away soon; raise it, or mend the target`,
  ])
  await look([])
  await look([9 * 24])
  expect(warnings).toHaveLength(2)
})

test('it asks once a minute', async () => {
  const { look, asked } = surroundings(String(10 * dayMs))
  await look([24], 0)
  await look([24], 59_999)
  await look([24], 1)
  expect(asked).toEqual([100 * dayMs - 8 * dayMs, 100 * dayMs + 60_000 - 8 * dayMs])
})

test.each(['-1', '0', 'x', undefined])('a retention.ms of %j is no reason to warn', async (retention) => {
  const { look, warnings, asked } = surroundings(retention)
  await look([1_000])
  expect([warnings, asked]).toEqual([[], []])
})
