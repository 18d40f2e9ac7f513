'use strict'

// Egg in one process; the project, with a plugin of its own, is in ./egg.

const path = require('node:path')

module.exports = {
  title: 'Egg 3, a controller and a plugin',
  isFramework: true,
  group: 'egg',
  packages: { egg: '3.34.0' },
  responses: 16,

  async serve () {
    const { start } = require('egg')
    const app = await start({ baseDir: path.join(__dirname, 'egg'), mode: 'single', env: 'prod' })
    return app.listen(0)
  },

  // The sealed session holds when it ends.
  mask: text => text.replace(/("x-readtime":")\d+/g, '$1TIME').replace(/(EGG_SESS=)[\w=-]{8,}/g, '$1VALUE')
    .replace(/(expires=)\w{3}, \d\d \w{3} 2\d{3} [\d:]+ GMT/g, '$1TIME'),

  async ask (client) {
    await client.ask('GET /')
    await client.ask('GET /greet/Ada%20L?loud=yes')
    await client.ask('HEAD /')
    await client.ask('POST /echo', { json: { a: [1, 'é'] } })
    await client.ask('POST /echo', { form: { a: '1', 'b[c]': '2' } })
    await client.ask('POST /echo', { headers: { 'content-type': 'application/json' }, body: '{' })
    await client.ask('GET /session')
    await client.ask('GET /session')
    await client.ask('GET /stream')
    await client.ask('GET /moved')
    await client.ask('GET /refused')
    await client.ask('GET /fails', { headers: { accept: 'application/json' } })
    await client.ask('GET /fails')
    await client.ask('GET /async')
    await client.ask('GET /nothing')
    await client.ask('GET /public/hello.txt')
  },

  load: { line: 'GET /greet/Ada' }
}
