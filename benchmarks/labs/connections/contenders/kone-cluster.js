'use strict'

// The lab decides how many workers.
module.exports = { ...require('./kone'), isCluster: true }
