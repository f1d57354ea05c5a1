import { readFile, readdir, readlink } from 'node:fs/promises'

export interface ListeningAddress {
  readonly host: string
  readonly port: number
}

/** Where a process listens for TCP connections, as Linux tells it (proc(5)). */
export async function listeningAddresses(pid: number): Promise<ListeningAddress[]> {
  const files = await readdir(`/proc/${pid}/fd`)
  const targets = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')))
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')))
  const found: ListeningAddress[] = []
  for (const line of tables.flatMap((table) => table.split('\n').slice(1))) {
    const fields = line.trim().split(/\s+/)
    const [local, state, inode] = [fields[1], fields[3], fields[9]]
    // 0A is LISTEN.
    if (local === undefined || state !== '0A' || !targets.includes(`socket:[${inode}]`)) continue
    const [address = '', port = ''] = local.split(':')
    found.push({ host: hostOf(address), port: Number.parseInt(port, 16) })
  }
  return found
}

/** IPv4 in little-endian hexadecimal, alone or mapped into IPv6; any other IPv6 address stays as it is. */
function hostOf(address: string): string {
  const isMapped = /^0{16}FFFF0000/.test(address)
  if (address.length > 8 && !isMapped) return address
  const bytes = address.slice(-8).match(/../g) ?? []
  return bytes
    .toReversed()
    .map((byte) => Number.parseInt(byte, 16))
    .join('.')
}
