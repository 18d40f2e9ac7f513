'use strict'

const { isIPv6 } = require('net')

/**
 * The network of an IPv6 address. A client has a whole network, usually a /64, and can use any address of
 * it.
 *
 *    networkOf('2001:db8::1', 64) // '2001:db8:0:0:0:0:0:0/64'
 *
 * @param {string} address an IPv4 address, also one written as IPv6, is returned unchanged
 * @param {number} bits of the prefix, 1 to 128
 * @return {string}
 * @api private
 */
module.exports = function networkOf (address, bits) {
  const [ip] = address.split('%') // without a zone: fe80::1%eth0
  if (!isIPv6(ip)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip) // as node writes it, without the cost of parsing
  if (mapped !== null) return mapped[1]

  const groups = groupsOf(ip)
  // IPv4 written as IPv6 (RFC 4291, 2.5.5.2)
  if (groups.findIndex(group => group !== 0) === 5 && groups[5] === 0xffff) {
    return Buffer.from(groups.slice(6).flatMap(group => [group >> 8, group])).join('.')
  }

  const kept = groups.map((group, i) => {
    const left = Math.min(Math.max(bits - 16 * i, 0), 16) // bits of this group
    return (group & (0xffff << (16 - left))).toString(16)
  })
  return `${kept.join(':')}/${bits}`
}

/** Eight numbers; the URL parser spells the last two, which may be written as IPv4, in hexadecimal. */
function groupsOf (ip) {
  const { hostname } = new URL(`http://[${ip}]`)
  const [start, end] = hostname.slice(1, -1).split('::').map(part => part === '' ? [] : part.split(':'))
  const all = end === undefined ? start : [...start, ...Array(8 - start.length - end.length).fill('0'), ...end]
  return all.map(group => parseInt(group, 16))
}
