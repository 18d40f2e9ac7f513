'use strict'

/**
 * What costs more than linear time all the same: each with the figure for as much as a client can send, and the reason why
 * it stays.
 *
 *     { name: 'upload', where: 'body', shape: /…/, costs: '16 KB: 3 ms (Node 20)', because: '…' }
 */
const EXCEPTIONS = [
  {
    name: 'ctx.path = text',
    where: 'text',
    shape: /^"http:/,
    costs: '32 KB of tabs: 21 ms, 64 KB: 158 ms (Node 20)',
    because: "node's url.parse reads a path that an app sets to a whole URL; no request target can have tabs or blanks"
  }
]

exports.exceptionFor = function (name, where, title) {
  return EXCEPTIONS.find(one => one.name === name && one.where === where && one.shape.test(title))
}
