'use strict'

/**
 * What costs more than linear time all the same: each with the figure for as much as a client can send, and the reason why
 * it stays.
 *
 *     { name: 'upload', where: 'body', shape: /…/, costs: '16 KB: 3 ms (Node 20)', because: '…' }
 */
const EXCEPTIONS = []

/**
 * @param {String} name of the station
 * @param {String} where
 * @param {String} title of the shape
 * @return {Object|undefined}
 */
exports.exceptionFor = function (name, where, title) {
  return EXCEPTIONS.find(one => one.name === name && one.where === where && one.shape.test(title))
}
