'use strict'

/*
 * What websocket tells logger and metrics, which must not import it.
 */

const connections = new WeakMap() // ctx → { closed, bytes }

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
  connections.set(ctx, connection)
}

/** @return {object|undefined} the connection that opened() got */
exports.of = ctx => connections.get(ctx)
