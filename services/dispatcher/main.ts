import { runHosted } from '@barnabas/host'
import { openDispatcher } from './open.ts'

await runHosted('dispatcher', openDispatcher)
