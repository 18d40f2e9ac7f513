'use strict'

const createError = require('http-errors')
const sizeOf = require('../_shared/bytes')
const form = require('../_shared/form')
const parseJSON = require('../_shared/json')
const { isUtf8, unescape } = require('./charset')

const TYPES = {
  json: [
    'application/json', 'application/json-patch+json', 'application/vnd.api+json',
    'application/csp-report', 'application/reports+json', 'application/scim+json'
  ],
  form: ['application/x-www-form-urlencoded'],
  text: ['text/plain'],
  xml: ['text/xml', 'application/xml']
}
const LIMITS = { json: '1mb', form: '56kb', text: '1mb', xml: '1mb' }

exports.KINDS = Object.keys(TYPES)

/**
 * The parsers that the options enable.
 *
 *    parsersOf({ enableTypes: ['json'] })   // [{ kind: 'json', types: [...], limit: 1048576, read }]
 *
 * @param {object} options of bodyParser
 * @return {Array<{ kind: string, types: string[], limit: number, read: Function }>} limit in bytes;
 *   read: (text, charset) => value
 */
exports.parsersOf = function (options) {
  const { enableTypes = ['json', 'form'], extendTypes = {} } = options
  const { strict = true, onProtoPoisoning = 'error' } = options
  const readers = {
    json: text => parseJSON(text, strict, onProtoPoisoning),
    form: formReader(options),
    text: text => text,
    xml: text => text
  }
  return exports.KINDS.filter(kind => enableTypes.includes(kind)).map(kind => ({
    kind,
    types: TYPES[kind].concat(extendTypes[kind] ?? []),
    limit: sizeOf(options[`${kind}Limit`] ?? LIMITS[kind]),
    read: readers[kind]
  }))
}

function formReader ({ qs, queryString = {} }) {
  const settings = { allowDots: true, ...queryString }
  const parse = qs === undefined ? form(settings) : text => qs.parse(text, settings)
  return function readForm (text, charset) {
    try {
      return isUtf8(charset) ? parse(text) : parse(text, escaped => unescape(escaped, charset))
    } catch (err) {
      throw createError(err.status ?? 400, err, { body: text })
    }
  }
}
