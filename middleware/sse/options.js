'use strict'

const { Options, integer } = require('../../lib/shared/options')
const { LONGEST } = require('../../lib/shared/timers')

module.exports = new Options('sse', {
  heartbeat: integer({ min: 0, max: LONGEST, unit: 'ms' }).says(
    'time between the comments that keep a silent stream open; 0: no comments', { default: 15_000 }),
  limit: integer({ min: 1, unit: 'bytes' }).says('what may be queued for one client', { default: 262_144 })
})
