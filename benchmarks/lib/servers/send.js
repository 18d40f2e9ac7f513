'use strict'

/**
 * Respond by node:http with text and its length, as the frameworks do. For the contenders `node`.
 *
 *    send(res, 'text/plain; charset=utf-8', 'Hello World')
 *
 * @param {http.ServerResponse} res
 * @param {string} type
 * @param {string} text
 */
function send (res, type, text) {
  res.setHeader('Content-Type', type)
  res.setHeader('Content-Length', Buffer.byteLength(text))
  res.end(text)
}

/**
 * @param {http.ServerResponse} res
 * @param {*} value
 */
function sendJSON (res, value) {
  send(res, 'application/json; charset=utf-8', JSON.stringify(value))
}

module.exports = { send, sendJSON }
