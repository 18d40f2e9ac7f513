'use strict'

// Of one connection only (RFC 9110, 7.6.1), and so for the server that sends the Response to decide.
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/**
 * The fields of a response as web Headers, without those of the connection.
 *
 * @param {Iterable<[string, *]>} fields names and values; a value may be a list
 * @return {Headers}
 */
module.exports = function webHeaders (fields) {
  const headers = new Headers()
  for (const [name, value] of fields) {
    if (HOP_BY_HOP.has(name.toLowerCase())) continue
    if (Array.isArray(value)) for (const one of value) headers.append(name, String(one))
    else headers.append(name, String(value))
  }
  return headers
}
