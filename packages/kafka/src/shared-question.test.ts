import { expect, test } from 'vitest'
import { sharedQuestion } from './shared-question.ts'

/** A question whose answers are given by hand, in the order in which it was asked. */
function question() {
  const asked: PromiseWithResolvers<void>[] = []
  const ask = sharedQuestion(() => {
    const answer = Promise.withResolvers<void>()
    asked.push(answer)
    return answer.promise
  })
  return { ask, asked }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('a thousand who ask at once ask once', async () => {
  const { ask, asked } = question()
  const all = Promise.all(Array.from({ length: 1_000 }, () => ask()))
  await turn()
  expect(asked).toHaveLength(1)
  asked[0]?.resolve()
  await all
})

test('those who come while a question is under way share the next one, and are not answered by this one', async () => {
  const { ask, asked } = question()
  const first = ask()
  await turn()
  const late = [ask(), ask()]
  asked[0]?.resolve()
  await first
  await turn()
  expect(asked).toHaveLength(2)
  expect(await Promise.race([late[0], Promise.resolve('not yet')])).toBe('not yet')
  asked[1]?.resolve()
  await Promise.all(late)
})

test('a question that fails fails those who asked it, and nobody after them', async () => {
  const { ask, asked } = question()
  const first = ask()
  await turn()
  const second = ask()
  asked[0]?.reject(new Error('stopped'))
  await expect(first).rejects.toThrow('stopped')
  await turn()
  asked[1]?.resolve()
  await second
})
