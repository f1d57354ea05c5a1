import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import type { ScriptedSink } from './scripted-sink.ts'

export type Answer = '200' | '503'

/** The cheapest receiver that the machine has: nginx where it is installed, else the scripted sink. */
export interface CountingSink {
  readonly name: string
  url(answer: Answer): string
  /** How many requests have been answered, whatever was asked of it. */
  received(): Promise<number>
  stop(): Promise<void>
}

export async function startCountingSink(scripted: ScriptedSink): Promise<CountingSink> {
  return spawnSync('nginx', ['-v']).status === 0 ? startNginx() : countingBy(scripted)
}

function countingBy(scripted: ScriptedSink): CountingSink {
  const paths = { '200': scripted.newPath('200'), '503': scripted.newPath('503') }
  return {
    name: 'raw node:net server',
    url: (answer) => `${scripted.origin}${paths[answer]}`,
    async received() {
      const accepted = await scripted.tally(paths['200'])
      const refused = await scripted.tally(paths['503'])
      return accepted.accepted + refused.refused
    },
    stop: () => Promise.resolve(),
  }
}

async function startNginx(): Promise<CountingSink> {
  const folder = await mkdtemp(join(tmpdir(), 'barnabas-bench-nginx-'))
  const port = await freePort()
  const file = join(folder, 'nginx.conf')
  await writeFile(file, nginxConfiguration(folder, port))
  const nginx = spawn('nginx', ['-p', folder, '-c', file, '-e', 'stderr'], { stdio: ['ignore', 'ignore', 'inherit'] })
  const exited = once(nginx, 'exit')
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 })
  let looks = 0

  /** nginx counts the requests that ask for the count too. */
  async function received(): Promise<number> {
    looks += 1
    const answer = await pool.request({ method: 'GET', path: '/count' })
    const text = await answer.body.text()
    return Number(/^ \d+ \d+ (\d+)/m.exec(text)?.[1]) - looks
  }

  while (nginx.exitCode === null) {
    const isUp = await received().then(
      () => true,
      () => false,
    )
    if (isUp) break
    looks = 0
  }
  return {
    name: 'nginx',
    url: (answer) => `http://127.0.0.1:${port}/${answer}`,
    received,
    async stop() {
      await pool.destroy()
      nginx.kill('SIGTERM')
      await exited
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function nginxConfiguration(folder: string, port: number): string {
  return `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 16384; }
http {
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port} reuseport backlog=16384;
    location = /200 { return 200; }
    location = /503 { return 503; }
    location = /count { stub_status; }
  }
}
`
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
