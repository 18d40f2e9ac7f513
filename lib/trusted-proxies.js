'use strict'

const net = require('net')
const { given, misuse } = require('./usage-error')

const lists = new WeakMap() // app.proxy as a list of addresses → net.BlockList

/**
 * How many proxies before this server are trusted: 0 (forwarded headers are ignored), Infinity for Koa's `proxy: true`,
 * a number of hops, or for a list of addresses the number of hops, from the peer on, that are all in the list.
 *
 * @throws {TypeError} if `app.proxy` is something else
 */
exports.trustedHops = function (request) {
  const { proxy } = request.app
  if (!proxy) return 0
  if (proxy === true) return Infinity
  if (typeof proxy === 'number') return proxy

  let list = lists.get(proxy)
  if (list === undefined) lists.set(proxy, list = exports.checkProxy(proxy))

  const { socket } = request
  if (!socket || !contains(list, socket.remoteAddress)) return 0
  const named = request.get(request.app.proxyIpHeader)
  let hops = 1
  for (let end = named.length; end > 0; hops++) {
    const comma = named.lastIndexOf(',', end - 1)
    if (!contains(list, named.slice(comma + 1, end).trim())) break
    end = comma
  }
  return hops
}

/**
 * Check the `proxy` option.
 *
 *    checkProxy(['127.0.0.1', '10.0.0.0/8'])
 *
 * @return {net.BlockList|undefined} the addresses, if it is a list
 */
exports.checkProxy = function (proxy) {
  if (proxy == null || typeof proxy === 'boolean') return
  if (Number.isInteger(proxy) && proxy >= 0) return
  if (!Array.isArray(proxy)) {
    throw misuse('application', `options.proxy must be true, false, a number of hops or a list of addresses, not ${given(proxy)}`)
  }
  const list = new net.BlockList()
  for (const entry of proxy) add(list, entry)
  return list
}

function add (list, entry) {
  const [address, bits] = String(entry).split('/')
  const plain = unmapped(address)
  const family = net.isIP(plain)
  const shift = plain === address ? 0 : 96 // the prefix of an IPv4-mapped range counts all 128 bits
  const longest = family === 4 ? 32 : 128
  const prefix = bits === undefined ? longest : Number(bits) - shift
  if (family === 0 || bits === '' || !Number.isInteger(prefix) || prefix < 0 || prefix > longest) {
    throw misuse('application', `options.proxy: '${entry}' is no address or range like 10.0.0.0/8`)
  }
  list.addSubnet(plain, prefix, family === 4 ? 'ipv4' : 'ipv6')
}

function contains (list, address) {
  if (!address) return false
  address = unmapped(address)
  const family = net.isIP(address)
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

// ::ffff:10.0.0.1 is 10.0.0.1 on a socket that listens for both families.
function unmapped (address) {
  return /^::ffff:\d+\./i.test(address) ? address.slice(7) : address
}
