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
 *    const undo = patch('res', 'end')
 *
 * @param {'req' | 'res'} which
 * @param {string} name
 * @param {Function} [note] is called before each call, `this` is the object
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
      note.call(this)
      return real.apply(this, args)
    }
  })
  return () => {
    if (own) Object.defineProperty(prototype, name, own)
    else delete prototype[name]
  }
}

module.exports = { methodsOf, patch }
