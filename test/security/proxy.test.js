'use strict'

const { describe, it: test } = require('node:test')
const assert = require('node:assert/strict')
const net = require('node:net')

const Kone = require('../helpers/kone')
const context = require('../helpers/context')
const engines = require('../helpers/engines')

const asked = (proxy, peer, headers, options) => context(
  { url: '/', headers: { host: 'own.com', ...headers }, socket: { remoteAddress: peer } },
  undefined,
  new Kone({ proxy, ...options })
)
const forged = {
  'x-forwarded-for': '6.6.6.6, 10.0.0.9',
  'x-forwarded-host': 'evil.com, front.com',
  'x-forwarded-proto': 'https, http'
}

describe('app.proxy as a number of hops', () => {
  test('should believe what that many proxies wrote, counted from the right', () => {
    const one = asked(1, '10.0.0.1', { 'x-forwarded-for': '6.6.6.6, 5.5.5.5' })
    assert.equal(one.ip, '5.5.5.5')
    assert.deepEqual(one.ips, ['5.5.5.5'])

    const two = asked(2, '10.0.0.1', { 'x-forwarded-for': '6.6.6.6, 5.5.5.5, 10.0.0.2' })
    assert.equal(two.ip, '5.5.5.5')
    assert.deepEqual(two.ips, ['5.5.5.5', '10.0.0.2'])
  })

  test('should take the first when there are fewer', () => {
    assert.equal(asked(3, '10.0.0.1', { 'x-forwarded-for': '5.5.5.5' }).ip, '5.5.5.5')
    assert.equal(asked(3, '10.0.0.1', {}).ip, '10.0.0.1')
  })

  test('should count for host and protocol too', () => {
    const ctx = asked(1, '10.0.0.1', forged)
    assert.equal(ctx.host, 'front.com')
    assert.equal(ctx.protocol, 'http')
  })

  test('should be none for 0', () => {
    const ctx = asked(0, '10.0.0.1', forged)
    assert.deepEqual([ctx.ip, ctx.ips, ctx.host, ctx.protocol], ['10.0.0.1', [], 'own.com', 'http'])
  })
})

describe('app.proxy as a list of addresses', () => {
  test('should ignore what comes from anybody else', () => {
    const ctx = asked(['10.0.0.1'], '6.6.6.6', forged)
    assert.deepEqual([ctx.ip, ctx.ips, ctx.host, ctx.protocol, ctx.secure],
      ['6.6.6.6', [], 'own.com', 'http', false])
  })

  test('should believe the peer on the list, and go on as long as the next is on it', () => {
    const list = ['10.0.0.0/8', '::1']
    assert.equal(asked(list, '10.0.0.1', { 'x-forwarded-for': '6.6.6.6, 5.5.5.5, 10.0.0.2' }).ip, '5.5.5.5')
    assert.equal(asked(list, '::1', { 'x-forwarded-for': '6.6.6.6, 5.5.5.5' }).ip, '5.5.5.5')
    assert.equal(asked(list, '10.9.9.9', { 'x-forwarded-for': '5.5.5.5' }).ip, '5.5.5.5')
    assert.equal(asked(list, '11.0.0.1', { 'x-forwarded-for': '5.5.5.5' }).ip, '11.0.0.1')
  })

  test('should know IPv4-mapped addresses, in the list and on the socket', () => {
    const forwarded = { 'x-forwarded-for': '5.5.5.5' }
    assert.equal(asked(['10.0.0.1'], '::ffff:10.0.0.1', forwarded).ip, '5.5.5.5')
    assert.equal(asked(['10.0.0.0/8'], '::FFFF:10.1.2.3', forwarded).ip, '5.5.5.5')
    assert.equal(asked(['::ffff:10.0.0.1'], '10.0.0.1', forwarded).ip, '5.5.5.5')
    assert.equal(asked(['::ffff:10.0.0.0/104'], '10.7.7.7', forwarded).ip, '5.5.5.5')
    assert.equal(asked(['10.0.0.1'], '::ffff:10.0.0.2', forwarded).ip, '::ffff:10.0.0.2')
  })

  test('should know IPv6 ranges', () => {
    const forwarded = { 'x-forwarded-for': '2001:db8::5' }
    assert.equal(asked(['fd00::/8'], 'fd12::1', forwarded).ip, '2001:db8::5')
    assert.equal(asked(['fd00::/8'], 'fe80::1', forwarded).ip, 'fe80::1')
  })

  test('should believe nobody when it is empty', () => {
    assert.equal(asked([], '10.0.0.1', forged).ip, '10.0.0.1')
  })

  test('should be assignable later, too', () => {
    const ctx = asked(false, '10.0.0.1', forged)
    assert.equal(ctx.host, 'own.com')
    ctx.app.proxy = ['10.0.0.1']
    assert.notEqual(ctx.host, 'own.com')
  })
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

  it('should be ignored without trust', async () => {
    assert.deepEqual(await see(read, 'GET /', { headers }), [[], 'own.com', 'http'])
    assert.deepEqual(await see(read, 'GET /', { headers, app: { proxy: ['203.0.113.1'] } }),
      [[], 'own.com', 'http'])
  })

  it('should be believed from a peer on the list', async () => {
    assert.deepEqual(await see(read, 'GET /', { headers, app: { proxy: ['127.0.0.1', '::1'] } }),
      [['10.0.0.9'], 'front.com', 'http'])
  })
})
