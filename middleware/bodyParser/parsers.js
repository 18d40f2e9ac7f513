'use strict'

const createError = require('../../lib/shared/http-errors')
const { sizeOf } = require('../_shared/bytes')
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

exports.KINDS = Object.keys(TYPES)

/**
 * The parsers that the options enable.
 *
 *    parsersOf({ enableTypes: ['json'], jsonLimit: '1mb' })   // [{ kind: 'json', types: [...], limit: 1048576, read }]
 *
 * @param {object} settings of bodyParser
 * @return {Array<{ kind: string, types: string[], limit: number, read: Function }>} limit in bytes;
 *   read: (text, charset) => value
 */
exports.parsersOf = function (settings) {
  const { enableTypes, extendTypes, strict, onProtoPoisoning } = settings
  const readers = {
    json: text => parseJSON(text, strict, onProtoPoisoning),
    form: formReader(settings),
    text: text => text,
    xml: text => text
  }
  return exports.KINDS.filter(kind => enableTypes.includes(kind)).map(kind => ({
    kind,
    types: TYPES[kind].concat(extendTypes?.[kind] ?? []),
    limit: sizeOf(settings[`${kind}Limit`]),
    read: readers[kind]
  }))
}

function formReader ({ qs, queryString }) {
  const parse = qs === undefined ? form(queryString) : text => qs.parse(text, { allowDots: true, ...queryString })
  return function readForm (text, charset) {
    try {
      return isUtf8(charset) ? parse(text) : parse(text, escaped => unescape(escaped, charset))
    } catch (err) {
      throw createError(err.status ?? 400, err, { body: text })
    }
  }
}
