'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { hintOfExpress, pathOf, placeIn } = require('../lib/shared/places')
const { escapeControls } = require('../middleware/_shared/escape')
const unparsed = require('./unparsed')

/**
 * What was thrown, in one line without control characters, for the one who started the app. It ends with the place in
 * the app's files if there is one.
 *
 *    errorLine(new Error('no\nbread'))   // 'no bread (app.js:3:9)'
 *
 * @param {*} thrown
 * @return {string} never empty
 */
module.exports = function errorLine (thrown) {
  const message = messageOf(thrown).split(/[\r\n]+/).map(text => text.trim()).filter(Boolean).join(' ')
  const place = thrown instanceof Error ? placeOf(thrown) : null
  return escapeControls(place === null ? message : `${message} (${shown(place)})`)
}

function messageOf (thrown) {
  if (!(thrown instanceof Error)) return String(thrown) || 'an empty string was thrown'
  const { code, message, errors } = thrown
  // the stack of require()s would be one very long line
  if (code === 'MODULE_NOT_FOUND') return message.split('\nRequire stack:')[0]
  if (jsonFile(thrown) !== null) return message.slice(jsonFile(thrown).length + 2)
  if (ofEsbuild(thrown) !== null) return ofEsbuild(thrown).text
  // a connection refused by all addresses of a host has no message of its own
  if (message === '' && Array.isArray(errors) && errors.length > 0) return messageOf(errors[0])
  return (message || code || thrown.name) + hintOfExpress(thrown)
}

/** @return {{ file: string, row: number, column: number } | null} */
function placeOf (err) {
  if (typeof err.stack !== 'string') return null
  return ofEsbuild(err) ?? placeInJson(err) ?? markedPlace(err.stack) ?? placeOfImport(err) ??
    markedPlace(unparsed.placeOf(err)) ?? placeIn(err)
}

/** Node writes the place of a syntax error before the message: file and line, the source, and a marker below it. */
function markedPlace (text) {
  const [first, source, marker] = text.split('\n')
  const [, name, row] = /^(\S.*):(\d+)$/.exec(first) ?? []
  if (name === undefined || source === undefined || !fs.existsSync(pathOf(name))) return null // a message may end alike
  const column = /^\s*\^/.test(marker ?? '') ? marker.indexOf('^') : source.length
  return { file: pathOf(name), row: Number(row), column: column + 1 }
}

/** The first error of a TypeScript file. */
function ofEsbuild ({ message }) {
  const [, file, row, column, text] = /^Transform failed with .*:\n(.+):(\d+):(\d+): ERROR: (.*)/.exec(message) ?? []
  return file === undefined ? null : { file, row: Number(row), column: Number(column) + 1, text }
}

/** @return {string | null} the file that is no JSON, with which node begins the message */
function jsonFile ({ name, message }) {
  return name === 'SyntaxError' ? /^(\S.*?\.json): /.exec(message)?.[1] ?? null : null
}

function placeInJson (err) {
  const file = jsonFile(err)
  const text = file === null ? null : textOf(file)
  if (text === null) return null
  const position = /at position (\d+)/.exec(err.message)?.[1] ?? text.length
  const before = text.slice(0, position).split('\n')
  return { file, row: before.length, column: before.at(-1).length + 1 }
}

/** Node names the ES module that imports what does not exist, without the line. */
function placeOfImport ({ message }) {
  const [, missing, importer] = /'([^']+)'.* imported from (\S.*)$/.exec(message) ?? []
  const file = importer === undefined ? undefined : pathOf(importer)
  const text = file === undefined ? null : textOf(file)
  if (text === null) return null
  for (const [i, line] of text.split('\n').entries()) {
    for (const { 1: specifier, index } of line.matchAll(/(?<=['"])([^'"]+)(?=['"])/g)) {
      if (names(specifier, missing, file)) return { file, row: i + 1, column: index }
    }
  }
  return { file, row: 1, column: 1 }
}

/** Does an import of `specifier` mean what node calls `missing`: a path, a package, or a subpath of a package? */
function names (specifier, missing, importer) {
  if (path.isAbsolute(missing)) return path.resolve(path.dirname(importer), specifier) === missing
  return specifier === missing || specifier.startsWith(`${missing}/`) || specifier.replace(/^(?:@[^/]+\/)?[^/]+/, '.') === missing
}

function textOf (file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function shown ({ file, row, column }) {
  const below = path.relative(process.cwd(), file)
  return `${below === '' || below.startsWith('..') ? file : below}:${row}:${column}`
}
