'use strict'

const net = require('net')
const { given, misuse } = require('../shared/usage-error')

/** Most hops that are looked up in a list: a client whose own address is in it may send thousands. */
const MOST = 32

const lists = new WeakMap() // app.proxy as a list of addresses → { entries, list }

/**
 * The addresses and ranges of `app.proxy`. The same object until the app changes the list.
 *
 * @param {string[]} proxy
 * @return {net.BlockList}
 * @throws {TypeError} if it is not such a list
 */
exports.listOf = function (proxy) {
  const known = lists.get(proxy)
  if (known?.entries.length === proxy.length && known.entries.every((entry, i) => entry === proxy[i])) return known.list
  const list = exports.checkProxy(proxy)
  lists.set(proxy, { entries: [...proxy], list })
  return list
}

/**
 * How many proxies before this server are trusted: the number of hops, from the peer on, that are all in the list.
 *
 * @param {net.BlockList} list
 * @param {string | undefined} peer address of the socket
 * @param {string} named the addresses that X-Forwarded-For names
 * @return {number} 0: forwarded headers are ignored
 */
exports.trustedHops = function (list, peer, named) {
  if (!contains(list, peer)) return 0
  let hops = 1
  for (let end = named.length; end > 0 && hops < MOST; hops++) {
    const comma = named.lastIndexOf(',', end - 1)
    if (!contains(list, addressOf(named.slice(comma + 1, end)))) break
    end = comma
  }
  return hops
}

/**
 * The address in an entry of X-Forwarded-For. Azure's gateway, IIS and others add the port of the connection.
 *
 *    addressOf(' 203.0.113.9:4711')    // '203.0.113.9'
 *    addressOf('[2001:db8::1]:443')    // '2001:db8::1'
 *
 * @param {string} entry
 * @return {string} empty if it is not one
 */
function addressOf (entry) {
  const text = entry.trim()
  if (net.isIP(text)) return text
  const [, six, four] = WITH_PORT.exec(text) ?? []
  return net.isIPv6(six) ? six : net.isIPv4(four) ? four : ''
}

exports.addressOf = addressOf

const WITH_PORT = /^(?:\[([^\]]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/

/**
 * Check the `proxy` option.
 *
 *    checkProxy(['127.0.0.1', '10.0.0.0/8'])
 *
 * @return {net.BlockList|undefined} the addresses, if it is a list
 * @throws {TypeError} if it is something else
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
  const [, address = '', bits] = /^([^/]*)(?:\/(\d*))?$/.exec(entry) ?? [] // no prefix is all bits
  const plain = unmapped(address)
  const family = net.isIP(plain)
  const shift = plain === address ? 0 : 96 // the prefix of an IPv4-mapped range counts all 128 bits
  const longest = family === 4 ? 32 : 128
  const prefix = bits === undefined ? longest : Number(bits) - shift
  if (family === 0 || bits === '' || prefix < 0 || prefix > longest) {
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
