'use strict'

const kone = require('../../lib/servers/kone')
const { ALONE, WHOLE, mount } = require('./workloads')

const WORKLOADS = { ...WHOLE, ...ALONE }

const about = 'koa-views with its option `cache`: it keeps the text of a template, and nunjucks compiles it for each request'
const koa = ([workload]) => mount(new (require('koa'))(), require('./sets/koa'), WORKLOADS[workload])
const koneOf = (id, set = 'kone') => ([workload]) => mount(new (kone(id))(), require(`./sets/${set}`), WORKLOADS[workload])

module.exports = {
  kone: { package: 'kone', start: koneOf('.') },
  'kone-bluebird': { package: 'kone', start: koneOf('lib/bluebird') },
  koa: { package: 'koa', about, start: koa },
  'koa-bluebird': {
    package: 'koa',
    about,
    // Koa has no option for bluebird; the first report, as everybody then, put it in place of the global.
    start (args) {
      global.Promise = require('bluebird')
      return koa(args)
    }
  },
  'kone-packages': { package: 'kone', about: 'kone with the packages of Koa', start: koneOf('.', 'koa') }
}
