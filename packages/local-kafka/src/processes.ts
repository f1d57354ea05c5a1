import { execFile } from 'node:child_process'
import { readFile, readdir } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'

/**
 * Who a process is beyond its number, which the system gives away again: its start time, on Linux together with the
 * boot. Null when no such process runs (a zombie does not).
 */
export async function processIdentity(pid: number): Promise<string | null> {
  if (process.platform !== 'linux') {
    const started = await ps(['-o', 'stat=,lstart=', '-p', String(pid)])
    return started === '' || started.startsWith('Z') ? null : started.slice(started.indexOf(' ') + 1).trim()
  }
  try {
    const [stat, boot] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'utf8'),
      readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => ''),
    ])
    return linuxIdentity(stat, boot.trim())
  } catch {
    return null
  }
}

/** From `/proc/<pid>/stat` (proc(5)): the state is field 3 and the start time field 22; the name may hold anything. */
export function linuxIdentity(stat: string, boot: string): string | null {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, startTime] = [fields[0], fields[19]]
  return state === 'Z' || state === 'X' || startTime === undefined ? null : `${boot}/${startTime}`
}

/** The processes that have exactly this argument on their command line. */
export async function processesWithArgument(argument: string): Promise<number[]> {
  if (process.platform !== 'linux') {
    const lines = (await ps(['-axww', '-o', 'pid=,command='])).split('\n')
    return lines.filter((line) => ` ${line} `.includes(` ${argument} `)).map((line) => Number.parseInt(line, 10))
  }
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const commandLine = await readFile(`/proc/${name}/cmdline`, 'utf8').catch(() => '')
    if (commandLine.split('\0').includes(argument)) found.push(Number(name))
  }
  return found
}

/** Waits until the process is gone; false when `timeoutMs` passed first. */
async function waitForEnd(pid: number, timeoutMs: number): Promise<boolean> {
  const identity = await processIdentity(pid)
  const deadline = Date.now() + timeoutMs
  // Another identity means that the number was given away again: the one waited for is gone.
  while (identity !== null && (await processIdentity(pid)) === identity) {
    if (Date.now() >= deadline) return false
    await wait(50)
  }
  return true
}

/** SIGTERM, and SIGKILL when it still runs after `graceMs`. Resolves when it is gone. */
export async function endProcess(pid: number, graceMs: number): Promise<void> {
  signal(pid, 'SIGTERM')
  if (await waitForEnd(pid, graceMs)) return
  signal(pid, 'SIGKILL')
  await waitForEnd(pid, 5_000)
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // Gone already.
  }
}

async function ps(args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)('ps', [...args], { maxBuffer: 16 << 20 })).stdout.trim()
  } catch {
    return ''
  }
}
