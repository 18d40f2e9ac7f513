'use strict'

const kone = require('../../../lib/servers/kone')
const { start } = require('../app')

exports.package = 'kone'

exports.about = 'kone on node:http (http1: false)'

exports.start = args => start(args, () => class extends kone('.') {
  constructor () {
    super({ http1: false })
  }
})
