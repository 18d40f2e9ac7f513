'use strict'

const { Incoming, Outgoing } = require('../engines/contract')
const { ENGINE, complete } = require('../engines/node')

const FAMILIES = Symbol('application#families')

/** What the core needs of an engine that node's API lacks. For node's objects it is in engines/node. */
const engine = {
  field: (incoming, name) => incoming.field(name),
  readBody: (incoming, limit) => incoming.readBody(limit),
  onFinished: (incoming, outgoing, fn) => outgoing.onFinished(fn),
  sink: (ctx, stream) => ctx.outgoing.sink(stream),
  canRespond: outgoing => outgoing.canRespond
}

/** The first read of `req` or `res` creates node's; an assignment replaces it. */
const PROPERTIES = {
  [ENGINE]: { value: engine },
  incoming: { value: undefined, writable: true },
  outgoing: { value: undefined, writable: true },
  req: {
    configurable: true,
    get () { return this.incoming?.materialize() },
    set (req) { this.incoming = req && Incoming.of(req) }
  },
  res: {
    configurable: true,
    get () { return this.outgoing?.materialize() },
    set (res) { this.outgoing = res && Outgoing.of(this.incoming, complete(res)) }
  }
}

/**
 * The constructors of the objects of a request. Their prototypes are `app.context`, `app.request` and `app.response`,
 * so that an app can extend them at any time, and the objects of every request have one shape.
 *
 * There are two families: one has node's objects in `req` and `res`, the other an engine's in `incoming` and
 * `outgoing`.
 *
 *    const ctx = new (familiesOf(app).Context)(req, res)
 *    const ctx = new (familiesOf(app).EngineContext)(incoming, outgoing)
 *
 * @param {any} app the application
 * @return {{ Context: any, EngineContext: any }} constructors
 */
module.exports = function familiesOf (app) {
  const families = app[FAMILIES]
  const { context, request, response } = app
  if (families !== undefined && families.context === context && families.request === request &&
      families.response === response) return families
  const created = createFamilies(app, context, request, response)
  // Not enumerable: an app is printed and compared by its settings.
  Object.defineProperty(app, FAMILIES, { value: created, configurable: true })
  return created
}

function createFamilies (app, context, request, response) {
  function Context (req, res) {
    this.app = app
    this.request = new Request(this, req, res)
    this.response = this.request.response
    this.req = req
    this.res = res
    this.originalUrl = req.url
    this.state = {}
  }

  function Request (ctx, req, res) {
    this.app = app
    this.ctx = ctx
    this.response = new Response(ctx, this, req, res)
    this.req = req
    this.res = res
    this.originalUrl = req.url
  }

  function Response (ctx, request, req, res) {
    this.app = app
    this.ctx = ctx
    this.request = request
    this.req = req
    this.res = res
    this._body = undefined
    this._explicitStatus = undefined
    this._explicitNullBody = undefined
  }

  function EngineContext (incoming, outgoing) {
    this.app = app
    this.request = new EngineRequest(this, incoming, outgoing)
    this.response = this.request.response
    this.incoming = incoming
    this.outgoing = outgoing
    this.originalUrl = incoming.url
    this.state = {}
    outgoing.setOwner(this)
  }

  function EngineRequest (ctx, incoming, outgoing) {
    this.app = app
    this.ctx = ctx
    this.response = new EngineResponse(ctx, this, incoming, outgoing)
    this.incoming = incoming
    this.outgoing = outgoing
    this.originalUrl = incoming.url
  }

  function EngineResponse (ctx, request, incoming, outgoing) {
    this.app = app
    this.ctx = ctx
    this.request = request
    this.incoming = incoming
    this.outgoing = outgoing
    this._body = undefined
    this._explicitStatus = undefined
    this._explicitNullBody = undefined
  }

  Context.prototype = context
  Request.prototype = request
  Response.prototype = response
  EngineContext.prototype = Object.create(context, PROPERTIES)
  EngineRequest.prototype = Object.create(request, PROPERTIES)
  EngineResponse.prototype = Object.create(response, PROPERTIES)

  return { context, request, response, Context, EngineContext }
}
