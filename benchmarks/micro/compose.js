'use strict'

const koaCompose = require('koa-compose')
const micro = require('../lib/run/micro')
const koneCompose = require('../lib/servers/kone')('lib/compose')

// A request through n layers that do nothing but go on, as koa-compose and kone's own compose run it.
const layers = {
  sync: n => Array.from({ length: n }, () => (ctx, next) => next()),
  async: n => Array.from({ length: n }, () => async (ctx, next) => { await next() })
}

const groups = {}
for (const kind of ['sync', 'async']) {
  for (const n of [1, 5, 10, 100]) {
    groups[`${kind}, ${n} layers`] = {
      'koa-compose': () => run(koaCompose(layers[kind](n))),
      kone: () => run(koneCompose(layers[kind](n)))
    }
  }
}

// koa-compose overflows the stack before 10,000; the ratio to 1,000 layers shows whether cost stays linear.
groups['sync, many layers'] = {
  '1,000': () => run(koneCompose(layers.sync(1000))),
  '10,000': () => run(koneCompose(layers.sync(10_000)))
}

micro(__filename, groups)

function run (fn) {
  return () => fn({})
}
