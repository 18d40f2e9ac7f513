'use strict'

/**
 * Required first, it has every later `require('koa')`, `require('koa/lib/context')` and the like
 * resolved to kone: what `npm i koa@npm:kone` does for a whole tree.
 */

const Module = require('node:module')

const resolve = Module._resolveFilename

Module._resolveFilename = function (request, ...rest) {
  if (request === 'koa') request = require.resolve('kone')
  else if (request.startsWith('koa/')) request = require.resolve(`kone/${request.slice('koa/'.length)}`)
  return resolve.call(this, request, ...rest)
}
