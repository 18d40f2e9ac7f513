'use strict'

const path = require('path')
const { fileURLToPath } = require('url')

const ROOT = path.join(__dirname, '../..') + path.sep
const OWN = ['lib', 'middleware'].map(name => ROOT + name + path.sep)

/**
 * Where the app wrote one of these functions. V8 tells it only to its inspector, which is slow: only for messages.
 *
 * @param {Function[]} fns
 * @return {string} ' (file:line)', or '' if it is unknown
 */
module.exports = function placeOf (fns) {
  let session
  const key = Symbol.for('kone.openapi.fn')
  try {
    session = new (require('inspector').Session)()
    session.connect()
    const files = new Map()
    session.on('Debugger.scriptParsed', ({ params }) => files.set(params.scriptId, params.url))
    post(session, 'Debugger.enable')
    for (const fn of fns.toReversed()) {
      globalThis[key] = fn
      const { result } = post(session, 'Runtime.evaluate', { expression: "globalThis[Symbol.for('kone.openapi.fn')]" })
      const { internalProperties } = post(session, 'Runtime.getProperties', { objectId: result.objectId })
      const { scriptId, lineNumber } = internalProperties.find(({ name }) => name === '[[FunctionLocation]]').value.value
      const url = files.get(scriptId) ?? ''
      const file = url.startsWith('file:') ? fileURLToPath(url) : url
      if (path.isAbsolute(file) && !OWN.some(own => file.startsWith(own))) return ` (${file}:${lineNumber + 1})`
    }
  } catch {
    // a runtime without inspector
  } finally {
    delete globalThis[key]
    session?.disconnect()
  }
  return ''
}

// Within one thread the inspector calls back before post() returns.
function post (session, method, params) {
  let found
  session.post(method, params, (err, result) => {
    if (err) throw err
    found = result
  })
  return found
}
