/** A block of IPv4 addresses as numbers: those whose leading bits are the block's. */
export interface Ipv4Block {
  readonly address: number
  /** 2 to the power of the bits that do not count: how many addresses it has. */
  readonly size: number
}

const addressPattern = /^(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])(?:\.(0|[1-9]\d?|1\d\d|2[0-4]\d|25[0-5])){3}$/

/** Reads `10.0.0.0/24`, or `10.0.0.1` as a block of one; bits behind the prefix do not count. Null for anything else. */
export function parseCidr(text: string): Ipv4Block | null {
  const [, addressText = '', bits = '32'] = /^([\d.]{7,15})(?:\/(\d|[12]\d|3[0-2]))?$/.exec(text) ?? []
  const address = parseIpv4(addressText)
  if (address === null) return null
  const size = 2 ** (32 - Number(bits))
  return { address: Math.floor(address / size) * size, size }
}

/** Whether a text is an address in the block; one that is no address is in none. */
export function cidrContains({ address, size }: Ipv4Block, text: string): boolean {
  const value = parseIpv4(text)
  return value !== null && value >= address && value < address + size
}

function parseIpv4(text: string): number | null {
  if (!addressPattern.test(text)) return null
  return text.split('.').reduce((value, part) => value * 256 + Number(part), 0)
}
