import { runHosted } from '@barnabas/host'
import { openRetrier } from './open.ts'

await runHosted('retrier', openRetrier)
