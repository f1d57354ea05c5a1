import { spawn, type ChildProcess } from 'node:child_process'

/**
 * Ends `child` when this process ends, even by SIGKILL: a small process of its own waits for the end of a pipe that
 * closes with us, and then sends SIGKILL.
 */
export function endWithParent(child: ChildProcess): void {
  if (child.pid === undefined) return
  const script = 'cat > /dev/null; kill -9 "$1"'
  const guard = spawn('sh', ['-c', script, 'sh', String(child.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.on('error', () => undefined)
  guard.unref()
  // Gone before the pid can be another process's: the child's number is free only after this event. The group,
  // because the shell's `cat` is in it too.
  child.once('exit', () => {
    try {
      if (guard.pid !== undefined) process.kill(-guard.pid, 'SIGKILL')
    } catch {
      // Gone already.
    }
  })
}
