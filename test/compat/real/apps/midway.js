'use strict'

const assert = require('node:assert/strict')
const path = require('node:path')

// Midway on its Koa component: controllers, a service by injection, middleware, validation by hand. The project is in ./midway.

module.exports = {
  title: 'Midway 3, controllers and services',
  isFramework: true,
  group: 'midway',
  packages: {
    '@midwayjs/koa': '3.20.24',
    '@midwayjs/core': '3.20.24',
    '@midwayjs/bootstrap': '3.20.24',
    '@midwayjs/logger': '3.4.2',
    'reflect-metadata': '0.2.2'
  },
  responses: 15,

  async serve () {
    require('reflect-metadata')
    const { Bootstrap } = require('@midwayjs/bootstrap')
    const baseDir = path.join(__dirname, 'midway')
    const { configuration, server } = require('./midway/configuration')
    await Bootstrap.configure({ appDir: __dirname, baseDir, imports: [configuration], moduleLoadType: 'commonjs' }).run()
    return server()
  },

  mask: text => text.replace(/(MW_SESS(?:\.sig)?=)[\w=-]{8,}/g, '$1VALUE').replace(/(expires=)\w{3}, \d\d \w{3} 2\d{3} [\d:]+ GMT/g, '$1TIME'),

  async ask (client) {
    await client.ask('GET /')
    const { body } = await client.ask('GET /users/7?verbose=1', { headers: { 'x-a': 'b' } })
    assert.equal(body, '{"id":"7","name":"Ada","verbose":"1","a":"b"}') // Midway ignores what a decorator throws
    await client.ask('POST /users', { json: { name: 'Ada ☃' } })
    await client.ask('POST /users', { form: { name: 'Edsger & co' } })
    await client.ask('POST /users', { headers: { 'content-type': 'application/json' }, body: '{' })
    await client.ask('POST /users', { json: {} })
    await client.ask('HEAD /users/7')
    await client.ask('GET /visits')
    await client.ask('GET /visits')
    await client.ask('GET /moved')
    await client.ask('GET /text')
    await client.ask('GET /stream')
    await client.ask('GET /fails')
    await client.ask('GET /nothing')
    await client.ask('PUT /users')
  },

  load: { line: 'GET /users/7' }
}
