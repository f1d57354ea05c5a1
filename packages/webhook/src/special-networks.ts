/**
 * Addresses that are not on the public Internet: the IANA special-purpose registries of IPv4 and IPv6, and what
 * embeds an IPv4 address (NAT64, 6to4, Teredo, v4-mapped), by which a private address could be reached in disguise.
 * The first entry that contains an address names it, so special cases stand before their surroundings.
 */
export const specialNetworks = [
  // `suggestion` is what BARNABAS_ALLOWED_NETWORKS would need; null suggests the single address.
  { network: '127.0.0.0/8', name: 'a loopback address', suggestion: '127.0.0.0/8' },
  { network: '::1/128', name: 'a loopback address', suggestion: '::1/128' },
  { network: '0.0.0.0/8', name: 'an address of this host', suggestion: null },
  { network: '::/128', name: 'an address of this host', suggestion: null },
  { network: '10.0.0.0/8', name: 'a private address', suggestion: '10.0.0.0/8' },
  { network: '172.16.0.0/12', name: 'a private address', suggestion: '172.16.0.0/12' },
  { network: '192.168.0.0/16', name: 'a private address', suggestion: '192.168.0.0/16' },
  { network: '169.254.169.254/32', name: "a cloud's metadata address", suggestion: null },
  { network: '100.100.100.200/32', name: "a cloud's metadata address", suggestion: null },
  { network: '168.63.129.16/32', name: "a cloud's metadata address", suggestion: null },
  { network: 'fd00:ec2::254/128', name: "a cloud's metadata address", suggestion: null },
  { network: '169.254.0.0/16', name: 'a link-local address', suggestion: null },
  { network: 'fe80::/10', name: 'a link-local address', suggestion: null },
  { network: '100.64.0.0/10', name: 'a carrier-grade NAT address', suggestion: '100.64.0.0/10' },
  { network: 'fc00::/7', name: 'a private address', suggestion: 'fc00::/7' },
  { network: '192.0.0.0/24', name: 'a reserved address', suggestion: null },
  { network: '192.0.2.0/24', name: 'a documentation address', suggestion: null },
  { network: '198.51.100.0/24', name: 'a documentation address', suggestion: null },
  { network: '203.0.113.0/24', name: 'a documentation address', suggestion: null },
  { network: '2001:db8::/32', name: 'a documentation address', suggestion: null },
  { network: '3fff::/20', name: 'a documentation address', suggestion: null },
  { network: '192.88.99.0/24', name: 'a reserved address', suggestion: null },
  { network: '198.18.0.0/15', name: 'a benchmarking address', suggestion: '198.18.0.0/15' },
  { network: '224.0.0.0/4', name: 'a multicast address', suggestion: null },
  { network: 'ff00::/8', name: 'a multicast address', suggestion: null },
  { network: '255.255.255.255/32', name: 'a broadcast address', suggestion: null },
  { network: '240.0.0.0/4', name: 'a reserved address', suggestion: null },
  { network: '64:ff9b::/96', name: 'a NAT64 address', suggestion: '64:ff9b::/96' },
  { network: '64:ff9b:1::/48', name: 'a NAT64 address', suggestion: '64:ff9b:1::/48' },
  { network: '2002::/16', name: 'a 6to4 address', suggestion: null },
  { network: '2001::/32', name: 'a Teredo address', suggestion: null },
  { network: '2001::/23', name: 'a reserved address', suggestion: null },
] as const

/** Every IPv6 address outside this network and not named above is reserved too. */
export const globalUnicastV6 = '2000::/3'
