'use strict'

/*
 * What both ends of sofa-rpc-node agree on.
 */

exports.INTERFACE = 'com.taobao.hsfcpp.service.nodejs.benchmark'

exports.protocols = {
  bolt: () => require('sofa-bolt-node'),
  dubbo: () => require('dubbo-remoting')
}

const silent = () => {}
exports.logger = { info: silent, warn: silent, error: silent, debug: silent, log: silent }
