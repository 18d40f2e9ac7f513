'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')

const Kone = require('../helpers/kone')
const { request } = require('../helpers/context')

const ips = (options, headers) => request({ headers }, undefined, new Kone(options)).ips

describe('ctx.ips', () => {
  const headers = { 'x-forwarded-for': '127.0.0.1, 127.0.0.2,127.0.0.3' }

  it('should be empty unless proxies are trusted', () => {
    assert.deepEqual(ips({ proxy: false }, headers), [])
    assert.deepEqual(ips({ proxy: true }, {}), [])
  })

  it('should list the addresses from the client to the last proxy', () => {
    assert.deepEqual(ips({ proxy: true }, headers), ['127.0.0.1', '127.0.0.2', '127.0.0.3'])
  })

  it('should read the header named by proxyIpHeader', () => {
    const named = { 'x-client-ip': '10.0.0.1,10.0.0.2' }
    assert.deepEqual(ips({ proxy: true, proxyIpHeader: 'X-Client-IP' }, named), ['10.0.0.1', '10.0.0.2'])
    assert.deepEqual(ips({ proxy: false, proxyIpHeader: 'X-Client-IP' }, named), [])
    assert.deepEqual(ips({ proxy: true, proxyIpHeader: 'X-Client-IP' }, headers), [])
  })

  it('should keep the last maxIpsCount', () => {
    assert.deepEqual(ips({ proxy: true, maxIpsCount: 1 }, headers), ['127.0.0.3'])
    assert.deepEqual(ips({ proxy: true, maxIpsCount: 2 }, headers), ['127.0.0.2', '127.0.0.3'])
    assert.deepEqual(ips({ proxy: true, maxIpsCount: 9 }, headers).length, 3)
    assert.deepEqual(ips({ proxy: false, maxIpsCount: 1 }, headers), [])
  })

  it('should read the options of the app at every access', () => {
    const req = request({ headers })
    assert.deepEqual(req.ips, [])
    req.app.proxy = true
    assert.equal(req.ips.length, 3)
    req.app.maxIpsCount = 1
    assert.deepEqual(req.ips, ['127.0.0.3'])
    req.app.proxyIpHeader = 'X-Other'
    assert.deepEqual(req.ips, [])
  })
})
