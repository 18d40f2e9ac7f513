'use strict'

exports.package = 'sofa-rpc-node'
exports.about = 'sofa-rpc-node over dubbo-remoting, Hessian 2'
exports.protocol = 'dubbo'

exports.start = () => require('../service/sofa')('dubbo')
