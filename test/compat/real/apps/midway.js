'use strict'

// Midway on its Koa component: controllers, a service by injection, middleware, validation by hand. The project is in ./midway.

const path = require('node:path')

module.exports = {
  title: 'Midway 3, controllers and services',
  group: 'midway',
  packages: {
    '@midwayjs/core': '^3.20.0',
    '@midwayjs/koa': '^3.20.0',
    '@midwayjs/bootstrap': '^3.20.0',
    '@midwayjs/logger': '^3.4.0',
    'reflect-metadata': '^0.2.2'
  },

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
    await client.ask('GET /users/7?verbose=1', { headers: { 'x-a': 'b' } })
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
