/** A service that logs a megabyte at its start, tells `logged`, and ends by an error that nobody catches when told so. */
import { createLogger, runService } from '@barnabas/runtime'

const logger = createLogger({ service: 'talkative', level: 'info' })

await runService('talkative', (service) => {
  service.logTo(logger)
  for (let line = 0; line < 1_000; line += 1) logger.info({ line, text: 'x'.repeat(1_000) }, 'counted')
  process.on('message', () => {
    throw new Error('nobody catches this')
  })
  process.send?.('logged')
  return Promise.resolve()
})
