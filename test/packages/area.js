'use strict'

const path = require('node:path')
const { install } = require('../helpers/area')

/**
 * The packages of this folder's own lock, and koa-connect, by which middleware of express is used in Koa apps.
 *
 *    const { area, connect } = require('./area')
 *    app.use(connect(area('on-headers')))
 */

const { require: area, folder } = install('packages')

module.exports = { area, modules: path.join(folder, 'node_modules'), connect: area('koa-connect') }
