import { expect, test } from 'vitest'
import { createAdmin } from './admin.ts'

type Arguments = Parameters<typeof createAdmin>

test('however many ask for the topics at a time, the brokers are asked once more', async () => {
  let asked = 0
  const connection = {
    async topicNames() {
      asked += 1
      return ['orders']
    },
  }
  const admin = createAdmin({} as Arguments[0], connection as Partial<Arguments[1]> as Arguments[1])
  const answers = await Promise.all(Array.from({ length: 500 }, () => admin.topics()))
  expect(answers.every((topics) => topics.has('orders'))).toBe(true)
  expect(asked).toBe(1)
})
