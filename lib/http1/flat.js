'use strict'

const { Buffer } = require('node:buffer')

/**
 * A string as one piece of its own: a sum of strings is put together anew whenever it is copied, and a part
 * of a string keeps all of it in memory.
 *
 * @param {string} text latin1
 * @return {string}
 */
module.exports = text => Buffer.from(text, 'latin1').latin1Slice()
