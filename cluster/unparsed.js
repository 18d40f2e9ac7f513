'use strict'

const { spawnSync } = require('node:child_process')
const { fileURLToPath } = require('node:url')

const urlOf = new WeakMap() // SyntaxError → the URL of the module that V8 could not parse

/**
 * Load modules, and note which one V8 cannot parse. The stack of a SyntaxError names the file of CommonJS modules only.
 * Of an ES module only V8's inspector is notified.
 *
 * @param {Function} load `() => Promise`
 * @return {Promise} what it returns
 */
exports.noting = async function (load) {
  let url = ''
  const session = connect(params => { url = params.url || url })
  try {
    return await load()
  } catch (err) {
    if (err instanceof SyntaxError && url !== '') urlOf.set(err, url)
    throw err
  } finally {
    session?.disconnect()
  }
}

/**
 * Where the syntax error is, as `node --check` reports it.
 *
 * @param {Error} err
 * @return {string} `file:line`, the line and a marker below it; '' if unknown
 */
exports.placeOf = function (err) {
  const url = urlOf.get(err)
  if (!url?.startsWith('file:')) return ''
  const file = fileURLToPath(url)
  return spawnSync(process.execPath, ['--check', file], { encoding: 'utf8' }).stderr ?? ''
}

function connect (onFailure) {
  try {
    const { Session } = require('node:inspector')
    const session = new Session()
    session.connect()
    session.on('Debugger.scriptFailedToParse', ({ params }) => onFailure(params))
    session.post('Debugger.enable')
    return session
  } catch {
    return null // this Node was built without an inspector
  }
}
