'use strict'

const { HOP_BY_HOP } = require('../../shared/web')

/** Statuses with which a web Response allows no body. */
const BODILESS = new Set([204, 205, 304])

/**
 * Make a web Response, without the fields of the connection. `fields` are FieldName, value, FieldName, value, …: no
 * name twice, but a value may be a list. They are set one by one, because the constructor copies a `Headers`.
 *
 * @throws {RangeError} for a status that no web Response has
 */
function webResponse (status, statusText, fields, body) {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new RangeError(`a web Response has a status from 200 to 599, not ${status}`)
  }
  const response = new Response(body, { status, statusText })
  const { headers } = response
  for (let i = 0; i < fields.length; i += 2) {
    const { key, text } = fields[i]
    const value = fields[i + 1]
    if (HOP_BY_HOP.has(key)) continue
    if (Array.isArray(value)) for (const one of value) headers.append(text, one)
    else headers.set(text, value)
  }
  return response
}

module.exports = { BODILESS, webResponse }
