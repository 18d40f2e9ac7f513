'use strict'

const kone = require('./kone')

module.exports = {
  ...kone,
  about: 'the same app without the middleware that isolates errors',
  start: () => kone.listener({ isolates: false })
}
