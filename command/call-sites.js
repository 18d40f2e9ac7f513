'use strict'

const { placeOf } = require('../lib/shared/places')

const sitesOf = new WeakMap() // error → V8's call sites

/**
 * From now on keep the call sites of errors, of which V8 makes the text of `err.stack`. They cannot be read from that
 * text: it begins with the message, and a message may have lines that look like call sites.
 */
exports.keep = function () {
  const { prepareStackTrace: format = textOf } = Error // node's own, from 20.12 on
  Error.prepareStackTrace = function (err, sites) {
    sitesOf.set(err, sites)
    if (!process.sourceMapsEnabled) return format(err, sites)
    // node itself maps the places only while nobody has replaced its function
    return [format(err, []), ...sites.map(site => `    at ${mapped(site)}`)].join('\n')
  }
}

/**
 * Where an error was made, and from where that was called. Places in a source that a source map names, if node was
 * started with `--enable-source-maps`.
 *
 * @param {Error} err
 * @return {Array<{ file: string, row: number }>} without node's own modules and without eval; empty if a function that
 *   replaced `Error.prepareStackTrace` made the stack
 */
exports.placesOf = function (err) {
  String(err.stack) // made when it is first read
  return (sitesOf.get(err) ?? []).map(placeOf).filter(place => place !== null)
}

function textOf (err, sites) {
  return [err, ...sites.map(site => `    at ${site}`)].join('\n')
}

function mapped (site) {
  const { file, row, column } = placeOf(site) ?? {}
  const text = String(site)
  const place = `${site.getFileName()}:${site.getLineNumber()}:${site.getColumnNumber()}`
  return file === undefined ? text : text.replace(place, () => `${file}:${row}:${column}`)
}
