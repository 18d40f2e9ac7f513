'use strict'

const http = require('node:http')
const { Readable, Stream } = require('node:stream')

/*
 * Methods of node's prototypes, wrapped as agents, sinon and the like do it.
 */

const PROTOTYPES = { req: http.IncomingMessage.prototype, res: http.ServerResponse.prototype }

/** What node's code and apps call beside the methods that node's classes for HTTP have themselves. */
const INHERITED = {
  req: ['on', 'emit', 'read', 'push', 'pipe', 'resume', 'destroy'],
  res: ['on', 'emit']
}

/** Of ServerResponse: the front has its own, and kone falls back to node:http when one is patched. */
const REPLACED = ['_storeHeader', '_writeRaw', '_finish', '_flush', '_flushOutput', 'assignSocket', 'detachSocket']

/** What kone calls itself: on node:http more than on the front. */
const OF_KONE = ['on', '_addHeaderLine', '_addHeaderLineDistinct']

/** @return {string[]} the methods of `req` or `res` that can be patched */
function methodsOf (which) {
  const names = new Set(INHERITED[which])
  const ends = [Readable.prototype, Stream.prototype]
  for (let proto = PROTOTYPES[which]; !ends.includes(proto); proto = Object.getPrototypeOf(proto)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(proto))) {
      if (typeof value === 'function' && name !== 'constructor') names.add(name)
    }
  }
  return Array.from(names)
}

/**
 * Wrap a method of a prototype.
 *
 *    const undo = patch('res', 'end', (...args) => log.push(args))
 *
 * @param {'req' | 'res'} which
 * @param {string} name
 * @param {Function} [note] gets the arguments, `this` is the object
 * @return {Function} removes it
 */
function patch (which, name, note = () => {}) {
  const prototype = PROTOTYPES[which]
  const own = Object.getOwnPropertyDescriptor(prototype, name)
  const real = prototype[name]
  Object.defineProperty(prototype, name, {
    configurable: true,
    writable: true,
    value (...args) {
      note.apply(this, args)
      return real.apply(this, args)
    }
  })
  return () => {
    if (own) Object.defineProperty(prototype, name, own)
    else delete prototype[name]
  }
}

/**
 * Wrap all methods that the front does not replace, and note each call of them.
 *
 * @param {Array} log
 * @param {Array<'req' | 'res'>} [which]
 * @return {Function} removes them
 */
function record (log, which = ['req', 'res']) {
  const undo = which.flatMap(which => methodsOf(which)
    .filter(name => !OF_KONE.includes(name) && (which === 'req' || !REPLACED.includes(name)))
    .map(name => patch(which, name, (...args) => log.push([`${which}.${name}`, ...args.map(shown)]))))
  return () => undo.forEach(undo => undo())
}

function shown (value) {
  if (typeof value === 'string') return value.replace(/Date: [^\r]+/, 'Date: now').slice(0, 100)
  if (value instanceof Error) return value.code ?? value.message
  if (Buffer.isBuffer(value)) return `Buffer: ${value.subarray(0, 100)}`
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value.constructor?.name ?? 'object'
  return typeof value === 'function' ? 'function' : value
}

module.exports = { OF_KONE, REPLACED, methodsOf, patch, record }
