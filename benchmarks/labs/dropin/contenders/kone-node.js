'use strict'

// node kone-node.js WORKLOAD FOLDER: kone without its own HTTP/1.1.
require('../serve')(() => {
  const Kone = require('../../../lib/servers/kone')('.')
  return class extends Kone {
    constructor () {
      super({ http1: false })
    }
  }
})
