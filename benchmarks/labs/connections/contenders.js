'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { execFileSync } = require('node:child_process')
const kone = require('../../lib/servers/kone')
const { go } = require('../../lib/servers/program')
const battle = require('../battle/contenders')
const files = require('../static/contenders')

const FIBJS = process.env.FIBJS_BIN
const hello = app => app.use(ctx => { ctx.body = 'Hello World' })

const koneHello = { package: 'kone', start: () => hello(new (kone('.'))()) }
const koaHello = { package: 'koa', start: () => hello(new (require('koa'))()) }

/*
 * With --quick the first of them go first. isCluster: the lab decides how many workers; isLargeOnly: it takes them where
 * one process cannot hold the connections.
 */
module.exports = {
  kone: koneHello,
  node: battle.node,
  go: { ...files.go, build: () => go(path.join(__dirname, 'hello.go')) },
  nginx: files.nginx, // without a root it is `return 200`
  koa: koaHello,
  'kone-cluster': { ...koneHello, isCluster: true },
  'node-cluster': { ...battle.node, isCluster: true },
  'koa-cluster': { ...koaHello, isCluster: true, isLargeOnly: true },

  fibjs: {
    missing: () => FIBJS && fs.existsSync(FIBJS) ? null : 'download it from https://fibjs.org and name it in FIBJS_BIN',
    version: () => execFileSync(FIBJS, ['--version'], { encoding: 'utf8' }).trim().replace(/^v/, ''),
    command ({ host, port, folder }) {
      const file = path.join(folder, 'hello.js')
      fs.writeFileSync(file, `
const http = require('http')
const server = new http.Server('${host}', ${port}, req => {
  req.response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  req.response.write('Hello World')
})
server.start()
`)
      return [path.resolve(FIBJS), file]
    }
  }
}
