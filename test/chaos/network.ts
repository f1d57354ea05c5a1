import { execFile, spawn } from 'node:child_process'
import { access, mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from '../support/start.ts'

/** What the services talk to, each behind proxies that can be disturbed. */
export type Far = 'broker' | 'receiver'

/** `cut`: connections end and new ones are refused. `delay`: bytes come late. `black-hole`: they never come. */
export type Disturbance = 'cut' | 'delay' | 'black-hole'

export interface Network {
  /** Puts a proxy in front of a port of 127.0.0.1 and gives the proxy's port. */
  proxy(far: Far, port: number): Promise<number>
  /** Disturbs every connection of the services to what is far, in both directions. */
  disturb(far: Far, disturbance: Disturbance): Promise<void>
  restore(far: Far): Promise<void>
  end(): void
}

const version = '2.12.0'
/** In each direction: together less than the time-out of an attempt. */
const delay = { latency: 350, jitter: 100 }

/** The path of the toxiproxy server, built with Go when it is not there yet; null without Go. */
export async function findToxiproxy(say: (line: string) => void): Promise<string | null> {
  const { XDG_CACHE_HOME } = process.env
  const folder = join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'barnabas', `toxiproxy-${version}`)
  const server = join(folder, 'server')
  const isThere = await access(server).then(
    () => true,
    () => false,
  )
  if (isThere) return server
  try {
    await promisify(execFile)('go', ['version'])
  } catch {
    return null
  }
  say(`building toxiproxy ${version} (once) in ${folder}`)
  await mkdir(folder, { recursive: true })
  const env = { ...process.env, GOBIN: folder }
  await promisify(execFile)('go', ['install', `github.com/Shopify/toxiproxy/v2/cmd/server@v${version}`], { env })
  return server
}

/** Runs toxiproxy (https://github.com/Shopify/toxiproxy) on 127.0.0.1. */
export async function startNetwork(server: string): Promise<Network> {
  const api = await freePort()
  const child = spawn(server, ['-host', '127.0.0.1', '-port', String(api)], { stdio: 'ignore' })
  const end = (): void => void child.kill('SIGKILL')
  process.once('exit', end)
  const names: { readonly far: Far; readonly name: string }[] = []

  async function ask(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<unknown> {
    const answer = await fetch(`http://127.0.0.1:${api}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`toxiproxy: ${method} ${path}: ${answer.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
  const each = async (far: Far, change: (name: string) => Promise<unknown>): Promise<void> => {
    await Promise.all(names.filter((proxy) => proxy.far === far).map(({ name }) => change(name)))
  }
  const toxics = ['upstream', 'downstream'] as const

  for (let tries = 0; ; tries++) {
    const isUp = await ask('GET', '/proxies').then(
      () => true,
      () => false,
    )
    if (isUp) break
    if (tries > 200) throw new Error('toxiproxy did not start')
    await sleep(25)
  }
  return {
    async proxy(far, port) {
      const name = `${far}-${port}`
      const listenPort = await freePort()
      await ask('POST', '/proxies', { name, listen: `127.0.0.1:${listenPort}`, upstream: `127.0.0.1:${port}` })
      names.push({ far, name })
      return listenPort
    },
    disturb: (far, disturbance) =>
      each(far, async (name) => {
        if (disturbance === 'cut') return ask('POST', `/proxies/${name}`, { enabled: false })
        const toxic =
          disturbance === 'delay'
            ? { type: 'latency', attributes: delay }
            : { type: 'timeout', attributes: { timeout: 0 } }
        return Promise.all(
          toxics.map((stream) => ask('POST', `/proxies/${name}/toxics`, { name: stream, stream, ...toxic })),
        )
      }),
    restore: (far) =>
      each(far, async (name) => {
        const { enabled, toxics: added } = (await ask('GET', `/proxies/${name}`)) as {
          readonly enabled: boolean
          readonly toxics: readonly { readonly name: string }[]
        }
        for (const toxic of added) await ask('DELETE', `/proxies/${name}/toxics/${toxic.name}`)
        if (!enabled) await ask('POST', `/proxies/${name}`, { enabled: true })
      }),
    end() {
      process.removeListener('exit', end)
      end()
    },
  }
}
