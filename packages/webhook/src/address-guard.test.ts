import { expect, test } from 'vitest'
import { addressGuard, type AddressGuard } from './address-guard.ts'

function guardOf(...networks: string[]): AddressGuard {
  const result = addressGuard(networks)
  if (result.kind !== 'guard') throw new Error(result.message)
  return result.guard
}

const open = guardOf()

test.each([
  ['10.1.2.3', '10.1.2.3 is a private address; allow it with BARNABAS_ALLOWED_NETWORKS=10.0.0.0/8'],
  ['172.16.0.1', '172.16.0.1 is a private address; allow it with BARNABAS_ALLOWED_NETWORKS=172.16.0.0/12'],
  ['172.31.255.255', '172.31.255.255 is a private address; allow it with BARNABAS_ALLOWED_NETWORKS=172.16.0.0/12'],
  ['192.168.0.1', '192.168.0.1 is a private address; allow it with BARNABAS_ALLOWED_NETWORKS=192.168.0.0/16'],
  ['127.0.0.1', '127.0.0.1 is a loopback address; allow it with BARNABAS_ALLOWED_NETWORKS=127.0.0.0/8'],
  ['127.255.255.254', '127.255.255.254 is a loopback address; allow it with BARNABAS_ALLOWED_NETWORKS=127.0.0.0/8'],
  ['::1', '::1 is a loopback address; allow it with BARNABAS_ALLOWED_NETWORKS=::1/128'],
  ['0.0.0.0', '0.0.0.0 is an address of this host; allow it with BARNABAS_ALLOWED_NETWORKS=0.0.0.0/32'],
  ['0.1.2.3', '0.1.2.3 is an address of this host; allow it with BARNABAS_ALLOWED_NETWORKS=0.1.2.3/32'],
  ['::', ':: is an address of this host; allow it with BARNABAS_ALLOWED_NETWORKS=::/128'],
  [
    '169.254.169.254',
    "169.254.169.254 is a cloud's metadata address; allow it with BARNABAS_ALLOWED_NETWORKS=169.254.169.254/32",
  ],
  ['169.254.1.1', '169.254.1.1 is a link-local address; allow it with BARNABAS_ALLOWED_NETWORKS=169.254.1.1/32'],
  ['fe80::1%eth0', 'fe80::1 is a link-local address; allow it with BARNABAS_ALLOWED_NETWORKS=fe80::1/128'],
  ['100.64.0.1', '100.64.0.1 is a carrier-grade NAT address; allow it with BARNABAS_ALLOWED_NETWORKS=100.64.0.0/10'],
  ['fd12::1', 'fd12::1 is a private address; allow it with BARNABAS_ALLOWED_NETWORKS=fc00::/7'],
  ['localhost', '"localhost" is no IP address'],
  ['', '"" is no IP address'],
])('%s is forbidden, and the message says how to allow it', (address, message) => {
  expect(open.check(address, 'https:')).toEqual({ kind: 'forbidden', message })
})

test.each([
  '168.63.129.16',
  '100.100.100.200',
  '100.127.255.255',
  'fd00:ec2::254',
  '192.0.0.1',
  '192.0.2.1',
  '198.51.100.1',
  '203.0.113.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.19.255.255',
  '224.0.0.1',
  '239.255.255.255',
  '240.0.0.1',
  '255.255.255.255',
  'fc00::1',
  'febf::1',
  'fec0::1',
  'ff02::1',
  '2001:db8::1',
  '3fff::1',
  '2001::1',
  '2001:10::1',
  // An IPv4 address in disguise.
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:a00:1',
  '::ffff:a9fe:a9fe',
  '0:0:0:0:0:FFFF:10.0.0.1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::1',
  // Neither special nor global unicast.
  '100::1',
  '4000::1',
  '5f00::1',
])('%s is forbidden', (address) => {
  expect(open.check(address, 'https:').kind).toBe('forbidden')
  expect(open.check(address, 'http:').kind).toBe('forbidden')
})

test.each([
  '8.8.8.8',
  '1.0.0.1',
  '9.255.255.255',
  '11.0.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.0',
  '192.167.255.255',
  '192.169.0.0',
  '223.255.255.255',
  '::ffff:8.8.8.8',
  '2606:4700::1111',
  '2001:4860:4860::8888',
  '2003::1',
])('%s is public: https:// may go there, http:// may not', (address) => {
  expect(open.check(address, 'https:')).toEqual({ kind: 'allowed' })
  const plain = open.check(address, 'http:')
  expect(plain.kind === 'forbidden' && plain.message).toContain(`http:// may not go to the public address ${address}`)
})

test('an allowed network admits http:// and https://, also in the v4-mapped spelling, and nothing beside it', () => {
  const guard = guardOf('10.0.0.0/8', ' ::1/128 ', '8.8.8.8', '10.1.2.3/31')
  for (const address of ['10.0.0.0', '10.255.255.255', '::ffff:10.1.2.3', '::1', '8.8.8.8']) {
    expect(guard.check(address, 'http:'), address).toEqual({ kind: 'allowed' })
    expect(guard.check(address, 'https:'), address).toEqual({ kind: 'allowed' })
  }
  for (const address of ['11.0.0.0', '9.255.255.255', '8.8.8.9', '::2', '127.0.0.1']) {
    expect(guard.check(address, 'http:').kind, address).toBe('forbidden')
  }
})

test.each(['10.0.0.0/33', '::1/129', '10.0.0/8', 'example.com', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1', '', '*'])(
  'the network "%s" is refused by name',
  (network) => {
    expect(addressGuard(['::1/128', network])).toEqual({
      kind: 'invalid',
      message: `BARNABAS_ALLOWED_NETWORKS: "${network}" is no network; write address/prefix, such as 10.0.0.0/8 or ::1/128`,
    })
  },
)

// Every spelling that the URL standard reads as 127.0.0.1, ::1 or another loopback address.
const oddLoopback = [
  'https://127.0.0.1/hook',
  'https://127.0.0.1:8443/hook',
  'https://127.1/hook',
  'https://2130706433/hook',
  'https://0x7f000001/hook',
  'https://0x7f.1/hook',
  'https://0177.0.0.1/hook',
  'https://017700000001/hook',
  'https://127.0.0.1./hook',
  'https://１２７.0.0.1/hook',
  'https://%31%32%37.0.0.1/hook',
  'https://0.0.0.0/hook',
  'https://0/hook',
  'https://[::1]/hook',
  'https://[::]/hook',
  'https://[0:0:0:0:0:0:0:1]/hook',
  'https://[::ffff:127.0.0.1]/hook',
  'https://[::ffff:7f00:1]/hook',
  'https://[::127.0.0.1]/hook',
  'https://[64:ff9b::127.0.0.1]/hook',
  'https://localhost/hook',
  'https://LOCALHOST/hook',
  'https://localhost./hook',
  'https://app.localhost/hook',
]

test.each([...oddLoopback, ...oddLoopback.map((url) => url.replace('https:', 'http:'))])(
  'the sink %s is refused before any attempt',
  (url) => {
    expect(open.checkSink(url).kind).toBe('forbidden')
  },
)

test.each([
  ['not a url', 'not a URL; write https://host/path'],
  ['', 'not a URL; write https://host/path'],
  ['ftp://example.com/', 'ftp://example.com/ begins with ftp:; only https:// and http:// are allowed'],
  ['file:///etc/passwd', 'file:/etc/passwd begins with file:; only https:// and http:// are allowed'],
  [
    'https://user:pass@example.com/hook?x=secret',
    'https://example.com/hook carries a user name or password; take it out of the URL, where everybody sees it',
  ],
  [
    'https://example.com/hook#part',
    'https://example.com/hook carries a fragment (#), which is never sent; take it out',
  ],
  ['https://example.com/hook#', 'https://example.com/hook carries a fragment (#), which is never sent; take it out'],
  ['https://10.1.2.3/', '10.1.2.3 is a private address; allow it with BARNABAS_ALLOWED_NETWORKS=10.0.0.0/8'],
  [
    'http://localhost:3000/',
    'localhost is a loopback address; allow it with BARNABAS_ALLOWED_NETWORKS=127.0.0.0/8,::1/128',
  ],
  [
    'http://8.8.8.8/',
    'http:// may not go to the public address 8.8.8.8; use https://, or allow it with BARNABAS_ALLOWED_NETWORKS=8.8.8.8/32',
  ],
])('the sink "%s" is refused with a sentence that mends it', (url, message) => {
  expect(open.checkSink(url)).toEqual({ kind: 'forbidden', message })
})

test('a sink that may be reached, or whose name must be resolved first, is allowed', () => {
  const local = guardOf('127.0.0.0/8')
  for (const url of [
    'http://127.0.0.1:3000/',
    'http://2130706433/',
    'http://localhost:3000/',
    'https://app.localhost/',
  ]) {
    expect(local.checkSink(url), url).toEqual({ kind: 'allowed' })
  }
  for (const url of [
    'https://example.com/hook?code=1',
    'http://inner.example/',
    'https://8.8.8.8/',
    'https://mylocalhost/',
  ]) {
    expect(open.checkSink(url), url).toEqual({ kind: 'allowed' })
  }
})
