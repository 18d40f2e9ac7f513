'use strict'

// The lab decides how many workers, and takes them where one process of Koa cannot hold the connections.
module.exports = { ...require('./koa'), isCluster: true, isLargeOnly: true }
