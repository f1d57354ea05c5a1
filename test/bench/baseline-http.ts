/**
 * Baseline H: what the HTTP client alone costs. Posts the same body and headers for ever, at the same concurrency.
 * Arguments: URL, concurrency.
 */
import { Pool } from 'undici'
import { benchHeaders, benchValue } from './events.ts'

const [url = '', concurrency = ''] = process.argv.slice(2)
const { origin, pathname } = new URL(url)
const pool = new Pool(origin, { connections: Number(concurrency), pipelining: 1, allowH2: false })
const body = benchValue(0)
const headers: Record<string, string> = {}
for (const [name, value] of Object.entries(benchHeaders(0))) headers[name.replace('ce_', 'ce-')] = value

async function post(): Promise<never> {
  for (;;) {
    const answer = await pool.request({ method: 'POST', path: pathname, headers, body })
    await answer.body.dump()
  }
}

await Promise.all(Array.from({ length: Number(concurrency) }, post))
