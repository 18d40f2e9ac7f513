'use strict'

// Of one connection only (RFC 9110, 7.6.1), and so for the server that sends the Response to decide.
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding', 'upgrade'])

/** Statuses with which a web Response allows no body. */
const BODILESS = new Set([204, 205, 304])

/**
 * Make a web Response, without the fields of the connection.
 *
 * @param {number} status
 * @param {string} statusText
 * @param {Array} fields name, value, name, value, …; a name is a string or a FieldName, a value may be a list
 * @param {Uint8Array|ReadableStream|null} body
 * @return {Response}
 * @throws {RangeError} for a status that no web Response has
 */
function webResponse (status, statusText, fields, body) {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new RangeError(`a web Response has a status from 200 to 599, not ${status}`)
  }
  const headers = new Headers()
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i].text ?? fields[i]
    const value = fields[i + 1]
    if (HOP_BY_HOP.has(fields[i].key ?? name.toLowerCase())) continue
    if (Array.isArray(value)) for (const one of value) headers.append(name, String(one))
    else headers.append(name, String(value))
  }
  return new Response(body, { status, statusText, headers })
}

module.exports = { BODILESS, webResponse }
