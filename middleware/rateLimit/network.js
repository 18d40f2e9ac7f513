'use strict'

const { isIPv6 } = require('node:net')

/**
 * The network that an IPv6 address belongs to. A client has a whole one, a /64 as a rule, and takes
 * as many addresses of it as it likes.
 *
 *    networkOf('2001:db8::1', 64) // '2001:db8:0:0:0:0:0:0/64'
 *
 * @param {string} address anything but IPv6, and an IPv4 address inside of it, stays as it is
 * @param {number} bits of the prefix, 1 to 128
 * @return {string}
 * @api private
 */
module.exports = function networkOf (address, bits) {
  const [ip] = address.split('%') // without a zone: fe80::1%eth0
  if (!isIPv6(ip)) return address
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)
  if (mapped !== null) return mapped[1]

  const groups = groupsOf(ip)
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
