'use strict'

const assert = require('node:assert/strict')

/**
 * Responses whose chunks that follow each other are one, without a size: Node 26 merges those of one tick.
 *
 *    joinChunks('…Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n')
 *    // '…Transfer-Encoding: chunked\r\n\r\nab0\r\n\r\n'
 *
 * @param {string} text bytes as latin1; the last chunk may be cut off
 * @return {string}
 */
module.exports = function joinChunks (text) {
  const header = /^Transfer-Encoding: chunked\r\n(?:.+\r\n)*\r\n/m.exec(text)
  if (header === null) return text
  const begin = header.index + header[0].length
  let data = ''
  let rest = text.slice(begin)
  for (let size; (size = /^([1-9a-f][\da-f]*)\r\n/.exec(rest)) !== null;) {
    const end = size[0].length + parseInt(size[1], 16)
    data += rest.slice(size[0].length, end)
    assert.match(rest.slice(end, end + 2), /^(?:\r\n?)?$/)
    rest = rest.slice(end + 2)
  }
  return text.slice(0, begin) + data + joinChunks(rest)
}
