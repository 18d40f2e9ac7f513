'use strict'

/*
 * What websocket tells logger and metrics, which must not import it.
 */

const { defineValue } = require('./context')

/** Of ctx: `{ closed, bytes }`. A WeakMap costs more at each collection. */
const CONNECTION = Symbol('connection')

/** Of this process. */
exports.counts = { open: 0, received: 0, sent: 0 }

/**
 * The response of this ctx was a 101, and its connection is open.
 *
 * @param {object} ctx
 * @param {{ closed: Promise, bytes: Function }} connection `bytes()`: those that were written
 * @api private
 */
exports.opened = (ctx, connection) => {
  defineValue(ctx, CONNECTION, connection)
}

/** @return {object|undefined} the connection that opened() got */
exports.of = ctx => ctx[CONNECTION]
