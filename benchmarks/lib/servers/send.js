'use strict'

/**
 * Respond by node:http with text and its length, as the frameworks do. For the contenders `node`.
 *
 *    send(res, 'text/plain; charset=utf-8', 'Hello World')
 */
function send (res, type, text) {
  res.setHeader('Content-Type', type)
  res.setHeader('Content-Length', Buffer.byteLength(text))
  res.end(text)
}

function sendJSON (res, value) {
  send(res, 'application/json; charset=utf-8', JSON.stringify(value))
}

/** The body of a request, in the way that costs node:http least. */
function read (req) {
  return new Promise((resolve, reject) => {
    const chunks = []
    req.on('data', chunk => chunks.push(chunk))
    req.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))
    req.on('error', reject)
  })
}

module.exports = { read, send, sendJSON }
