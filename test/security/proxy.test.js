'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const net = require('node:net')
const fc = require('fast-check')

const Kone = require('../helpers/kone')
const context = require('../helpers/context')
const engines = require('../helpers/engines')

const asked = (proxy, peer, headers) => context(
  { url: '/', headers: { host: 'own.com', ...headers }, socket: { remoteAddress: peer } },
  undefined,
  new Kone({ proxy })
)
const forged = {
  'x-forwarded-for': '6.6.6.6, 10.0.0.9',
  'x-forwarded-host': 'evil.com, front.com',
  'x-forwarded-proto': 'https, http'
}

const who = ctx => [ctx.ip, ctx.ips, ctx.host, ctx.protocol]
const DIRECT = ['10.0.0.1', [], 'own.com', 'http']

describe('app.proxy', () => {
  test('should believe what as many proxies wrote as it says, counted from the right', () => {
    const one = asked(1, '10.0.0.1', { 'x-forwarded-for': '6.6.6.6, 5.5.5.5' })
    assert.deepEqual([one.ip, one.ips], ['5.5.5.5', ['5.5.5.5']])
    const two = asked(2, '10.0.0.1', { 'x-forwarded-for': '6.6.6.6, 5.5.5.5, 10.0.0.2' })
    assert.deepEqual([two.ip, two.ips], ['5.5.5.5', ['5.5.5.5', '10.0.0.2']])
  })

  test('should count for host and protocol too', () => {
    const ctx = asked(1, '10.0.0.1', forged)
    assert.deepEqual([ctx.host, ctx.protocol], ['front.com', 'http'])
  })

  test('should be none for 0', () => assert.deepEqual(who(asked(0, '10.0.0.1', forged)), DIRECT))

  test('should ignore what comes from an address that is not on the list', () => {
    const ctx = asked(['10.0.0.1'], '6.6.6.6', forged)
    assert.deepEqual([...who(ctx), ctx.secure], ['6.6.6.6', ...DIRECT.slice(1), false])
  })

  const list = ['10.0.0.0/8', '::1']
  for (const [title, proxy, peer, forwarded, ip] of [
    ['take the first when there are fewer hops', 3, '10.0.0.1', '5.5.5.5', '5.5.5.5'],
    ['take the peer without them', 3, '10.0.0.1', undefined, '10.0.0.1'],
    ['believe the peer on the list, and go on as long as the next is on it', list, '10.0.0.1', '6.6.6.6, 5.5.5.5, 10.0.0.2', '5.5.5.5'],
    ['believe an IPv6 peer on the list', list, '::1', '6.6.6.6, 5.5.5.5', '5.5.5.5'],
    ['believe a peer in a range', list, '10.9.9.9', '5.5.5.5', '5.5.5.5'],
    ['not believe a peer outside of the range', list, '11.0.0.1', '5.5.5.5', '11.0.0.1'],
    ['know an IPv4-mapped peer', ['10.0.0.1'], '::ffff:10.0.0.1', '5.5.5.5', '5.5.5.5'],
    ['know an IPv4-mapped peer of a range', ['10.0.0.0/8'], '::FFFF:10.1.2.3', '5.5.5.5', '5.5.5.5'],
    ['know an IPv4-mapped address of the list', ['::ffff:10.0.0.1'], '10.0.0.1', '5.5.5.5', '5.5.5.5'],
    ['know an IPv4-mapped range of the list', ['::ffff:10.0.0.0/104'], '10.7.7.7', '5.5.5.5', '5.5.5.5'],
    ['tell IPv4-mapped addresses apart', ['10.0.0.1'], '::ffff:10.0.0.2', '5.5.5.5', '::ffff:10.0.0.2'],
    ['know IPv6 ranges', ['fd00::/8'], 'fd12::1', '2001:db8::5', '2001:db8::5'],
    ['know the end of an IPv6 range', ['fd00::/8'], 'fe80::1', '2001:db8::5', 'fe80::1'],
    ['believe nobody when the list is empty', [], '10.0.0.1', '6.6.6.6', '10.0.0.1']
  ]) {
    test(`should ${title}`, () => {
      assert.equal(asked(proxy, peer, forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }).ip, ip)
    })
  }

  test('should count whenever it, its entries or the addresses change', () => {
    const ctx = asked(false, '10.0.0.1', forged)
    assert.equal(ctx.host, 'own.com')
    ctx.app.proxy = ['10.0.0.2']
    assert.equal(ctx.host, 'own.com')
    ctx.app.proxy[0] = '10.0.0.1'
    assert.equal(ctx.host, 'front.com')
    ctx.app.proxy.push('10.0.0.9')
    assert.equal(ctx.host, 'evil.com')
    ctx.req.headers['x-forwarded-for'] = '6.6.6.6, 5.5.5.5'
    assert.equal(ctx.host, 'front.com')
    ctx.req.socket.remoteAddress = '6.6.6.6'
    assert.equal(ctx.host, 'own.com')
  })

  test('should look few addresses up in a list, and once for a request', t => {
    const { check } = net.BlockList.prototype
    let count = 0
    t.after(() => { net.BlockList.prototype.check = check })
    net.BlockList.prototype.check = function (...args) {
      count++
      return check.apply(this, args)
    }
    const ctx = asked(['10.0.0.0/8'], '10.0.0.1', { 'x-forwarded-for': '10.0.0.2,'.repeat(1500) + '10.0.0.3' })
    assert.deepEqual([ctx.ip, ctx.ips.length, ctx.host, ctx.secure, ctx.href], ['10.0.0.2', 32, 'own.com', false, 'http://own.com/'])
    assert(count <= 32, `${count} addresses`)
  })
})

describe('a port in X-Forwarded-For', () => {
  // as Azure's gateway, IIS and others send addresses
  const four = fc.ipV4().map(address => [address, [address, `${address}:4711`]])
  const six = fc.oneof(fc.ipV6(), fc.ipV4().map(address => `::ffff:${address}`))
    .map(address => [address, [address, `[${address}]`, `[${address}]:443`]])
  const sent = fc.oneof(four, six).chain(([address, ways]) => fc.tuple(fc.constant(address), fc.constantFrom(...ways)))

  for (const proxy of [true, 1, 2, ['10.0.0.1', '10.0.0.9']]) {
    test(`should be no part of the address for proxy: ${JSON.stringify(proxy)}`, () => {
      fc.assert(fc.property(sent, sent, ([client, first], [other, second]) => {
        const named = proxy === 1 ? [second] : proxy === true || proxy === 2 ? [first, second] : [first, second, '10.0.0.9:80']
        const ctx = asked(proxy, '10.0.0.1', { 'x-forwarded-for': named.join(' ,\t') })
        const ips = { true: [client, other], 1: [other], 2: [client, other] }[proxy] ?? [other, '10.0.0.9']
        assert.deepEqual([ctx.ip, ctx.ips], [ips[0], ips])
      }))
    })
  }

  for (const junk of ['1.2.3.4:', '1.2.3.4:x', '1.2.3.4:123456', '1.2.3.4:1:2', '[1.2.3.4]:80', '[::1', '::1]:80', '[::1]80', '[::1]:', ':80', '[]:80', '"1.2.3.4:80"']) {
    test(`should not make an address of ${junk}`, () => {
      const ctx = asked(1, '10.0.0.1', { 'x-forwarded-for': junk })
      assert.deepEqual([ctx.ip, ctx.ips], ['10.0.0.1', []])
    })
  }
})

describe('ctx.ip', () => {
  const lists = [
    'unknown', '<script>', '', ',', ' , ', 'a, b', '1.2.3.4:5678', '[::1]:80', '999.1.1.1', '1.2.3.4, <b>', '<b>, 1.2.3.4',
    '1.2.3.4\t', '::ffff:1.2.3.4', 'localhost', '1.2.3', '0x7f000001'
  ]

  for (const proxy of [true, 1, 2, ['10.0.0.1']]) {
    for (const list of lists) {
      test(`should be an address for X-Forwarded-For: ${list} and proxy: ${JSON.stringify(proxy)}`, () => {
        const ctx = asked(proxy, '10.0.0.1', { 'x-forwarded-for': list })
        assert(net.isIP(ctx.ip), ctx.ip)
        for (const ip of ctx.ips) assert(net.isIP(ip), ip)
      })
    }
  }

  test("should be '' on a Unix socket that names nobody", () => {
    assert.equal(asked(true, undefined, { 'x-forwarded-for': 'junk' }).ip, '')
    assert.equal(asked(false, undefined, {}).ip, '')
  })
})

engines('forwarded headers', ({ it, see }) => {
  const read = ctx => [ctx.ips, ctx.host, ctx.protocol]
  const headers = { host: 'own.com', ...forged }

  for (const app of [undefined, { proxy: ['203.0.113.1'] }]) {
    it(`should be ignored ${app ? 'from a peer that is not on the list' : 'without trust'}`, async () => {
      assert.deepEqual(await see(read, 'GET /', { headers, app }), [[], 'own.com', 'http'])
    })
  }

  it('should be believed from a peer on the list', async () => {
    assert.deepEqual(await see(read, 'GET /', { headers, app: { proxy: ['127.0.0.1', '::1'] } }),
      [['10.0.0.9'], 'front.com', 'http'])
  })
})
