'use strict'

const { Options, boolean } = require('../../lib/shared/options')

module.exports = new Options('etag', {
  weak: boolean.says('`true`: all tags are weak; `false`: no tag is weak', { otherwise: 'files only' })
})
