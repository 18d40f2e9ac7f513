'use strict'

const { Options, Rule, fieldValue, number } = require('../../lib/shared/options')

const ONE_DAY = 24 * 3600 * 1000 // ms
const mime = new Rule('a media type', value => value !== '' && fieldValue.test(value), undefined, 'string')

module.exports = new Options('favicon', {
  maxAge: number({ min: 0, unit: 'ms' }).says('how long a client may cache the icon, at most a year', { default: ONE_DAY }),
  mime: mime.says('Content-Type of the icon', { default: 'image/x-icon' })
})
