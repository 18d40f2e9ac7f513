'use strict'

const path = require('node:path')
const kone = require('../../lib/servers/kone')
const { go } = require('../../lib/servers/program')
const battle = require('../battle/contenders')
const files = require('../static/contenders')

const hello = app => app.use(ctx => { ctx.body = 'Hello World' })

const koneHello = { package: 'kone', start: () => hello(new (kone('.'))()) }
const koaHello = { package: 'koa', start: () => hello(new (require('koa'))()) }

/*
 * Of a first look the first of them go first. isCluster: the lab decides how many workers; isLargeOnly: it takes them where
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
  'koa-cluster': { ...koaHello, isCluster: true, isLargeOnly: true }
}
