'use strict'

const { setImmediate } = require('../../lib/shared/timers')
const { given, misuse } = require('../_shared/usage-error')
const { parts } = require('./line')
const { statusOf } = require('./values')

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'mark']

/**
 * The function that writes a request's line.
 *
 * @param {any} log a logger, or a function `(line, args)`; default: stdout
 * @param {string} level
 * @param {Function} line (ctx, start) => text
 * @return {Function} (ctx, start) => what the logger returns
 * @throws {TypeError} for a logger without a method of this level
 */
function writer (log, level, line) {
  if (log === undefined || log === null) return toStdout(line)
  if (typeof log === 'function') {
    return (ctx, start) => {
      const text = line(ctx, start)
      if (text) return log(text, parts(ctx, start))
    }
  }

  if (typeof log !== 'object') {
    throw misuse('logger', `the logger must be an object, a function, or options in its place, not ${given(log)}; a format is options.format`)
  }
  const names = level === 'auto' ? ['info', 'warn', 'error'] : [level]
  const missing = names.find(name => typeof log[name] !== 'function')
  if (missing) throw misuse('logger', `options.level is ${given(level)}, but the given logger has no method ${missing}()`)

  return (ctx, start) => {
    const name = level === 'auto' ? levelOf(statusOf(ctx)) : level
    if (log.isLevelEnabled && !log.isLevelEnabled(name)) return
    const text = line(ctx, start)
    if (text) return log[name](text)
  }
}

function levelOf (status) {
  if (status >= 400) return 'error'
  return status >= 300 ? 'warn' : 'info'
}

// One write for all lines of a turn of the event loop: a write per line costs more than a line.
let lines = []
let isFlushedAtExit = false

function toStdout (line) {
  // one listener for all loggers: node warns of the eleventh
  if (!isFlushedAtExit) process.on('exit', flush)
  isFlushedAtExit = true

  return (ctx, start) => {
    const text = line(ctx, start)
    if (text && lines.push(text) === 1) setImmediate(flush)
  }
}

function flush () {
  const text = lines.join('\n')
  lines = []
  if (text) console.log(text)
}

/** Takes log4js' Level objects, too. */
function levelName (level) {
  return String(level?.levelStr ?? level).toLowerCase()
}

module.exports = { LEVELS, levelName, writer }
