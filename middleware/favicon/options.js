'use strict'

const { Options, number, text } = require('../../lib/options')

const ONE_DAY = 24 * 3600 * 1000 // ms

module.exports = new Options('favicon', {
  maxAge: number({ min: 0, unit: 'ms' }).says('how long a client may cache the icon, at most a year', { default: ONE_DAY }),
  mime: text.says('Content-Type of the icon', { default: 'image/x-icon' })
})
