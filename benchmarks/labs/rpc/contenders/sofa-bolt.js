'use strict'

exports.package = 'sofa-rpc-node'
exports.about = 'sofa-rpc-node over bolt, Hessian 2'
exports.protocol = 'bolt'

exports.start = () => require('../service/sofa')('bolt')
