'use strict'

// The lab decides how many workers.
module.exports = { ...require('./node'), isCluster: true }
