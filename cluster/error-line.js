'use strict'

const { escapeControls } = require('../middleware/_shared/escape')

/**
 * What was thrown, in one line for the one who started the app, without control characters.
 *
 *    errorLine(new Error('no\nbread'))   // 'no bread'
 *
 * @param {*} thrown
 * @return {string} never empty
 */
module.exports = function errorLine (thrown) {
  return escapeControls(messageOf(thrown).split(/[\r\n]+/).map(text => text.trim()).filter(Boolean).join(' '))
}

function messageOf (thrown) {
  if (!(thrown instanceof Error)) return String(thrown) || 'an empty string was thrown'
  const { code, message, errors, stack } = thrown
  // the stack of require()s would be one very long line
  if (code === 'MODULE_NOT_FOUND') return message.split('\nRequire stack:')[0]
  // where it stands is in the stack alone, before the message
  if (thrown instanceof SyntaxError && /^\S.*:\d+\n/.test(stack)) return `${message} (${stack.split('\n')[0]})`
  // a connection refused by all addresses of a host has no message of its own
  if (message === '' && Array.isArray(errors) && errors.length > 0) return messageOf(errors[0])
  return message || code || thrown.name
}
