'use strict'

const micro = require('../lib/run/micro')

// What it costs to make the context of a request on the front when `req` and `res` are accessors of
// its prototype, as they are, and when they are properties of its own, as `{ ...ctx }.req` and
// `delete ctx.req` would need.
const context = { app: null }
const incoming = { url: '/', materialize: () => null }
const outgoing = { materialize: () => null }

const accessor = slot => ({
  configurable: true,
  enumerable: true,
  get () { return this[slot].materialize() },
  set (value) { this[slot] = value }
})
const req = accessor('incoming')
const res = accessor('outgoing')
const both = { req, res }

function Fields (incoming, outgoing) {
  this.app = context
  this.request = null
  this.response = null
  this.incoming = incoming
  this.outgoing = outgoing
  this.originalUrl = incoming.url
  this.state = {}
}
Fields.prototype = Object.create(context, both)

function Defined (incoming, outgoing) {
  this.app = context
  this.request = null
  this.response = null
  this.incoming = incoming
  this.outgoing = outgoing
  Object.defineProperty(this, 'req', req)
  Object.defineProperty(this, 'res', res)
  this.originalUrl = incoming.url
  this.state = {}
}
Defined.prototype = context

const literal = (incoming, outgoing) => ({
  __proto__: context,
  app: context,
  request: null,
  response: null,
  incoming,
  outgoing,
  get req () { return this.incoming.materialize() },
  set req (value) { this.incoming = value },
  get res () { return this.outgoing.materialize() },
  set res (value) { this.outgoing = value },
  originalUrl: incoming.url,
  state: {}
})

micro(__filename, {
  'a context of the front': {
    'accessors of the prototype': () => () => new Fields(incoming, outgoing),
    'own, by Object.defineProperty': () => () => new Defined(incoming, outgoing),
    'own, by an object literal': () => () => literal(incoming, outgoing)
  }
})
