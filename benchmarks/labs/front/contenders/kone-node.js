'use strict'

const { create } = require('./kone')

exports.package = 'kone'
exports.about = 'kone on node:http, without its own HTTP/1.1'

exports.start = ([workload]) => create(workload, { http1: false })
