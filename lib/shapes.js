'use strict'

// On the front, the first read of `req` or `res` creates it; an assignment replaces it.
const onTouch = (slot) => ({
  configurable: true,
  get () {
    const value = this[slot]
    return value !== undefined && typeof value.materialize === 'function' ? value.materialize() : value
  },
  set (value) { this[slot] = value }
})

const FRONT = {
  incoming: { value: undefined, writable: true },
  outgoing: { value: undefined, writable: true },
  req: onTouch('incoming'),
  res: onTouch('outgoing')
}

/**
 * Create constructors for the objects of one app. Their prototypes are `app.context`, `app.request` and
 * `app.response`, so that an app can extend them at any time, and the objects of every request have one shape.
 *
 * @param {object} app
 * @return {{ context, request, response, node: Function, front: Function }}
 * @api private
 */
module.exports = function shapes (app) {
  const { context, request, response } = app

  function Context (req, res) {
    this.app = app
    this.request = null
    this.response = null
    this.req = req
    this.res = res
    this.originalUrl = req.url
    this.state = {}
  }

  function Request (ctx, req, res) {
    this.app = app
    this.ctx = ctx
    this.response = null
    this.req = req
    this.res = res
    this.originalUrl = ctx.originalUrl
  }

  function Response (ctx, req, res) {
    this.app = app
    this.ctx = ctx
    this.request = ctx.request
    this.req = req
    this.res = res
    this._body = undefined
    this._explicitStatus = undefined
    this._explicitNullBody = undefined
  }

  function FrontContext (incoming, outgoing) {
    this.app = app
    this.request = null
    this.response = null
    this.incoming = incoming
    this.outgoing = outgoing
    this.originalUrl = incoming.url
    this.state = {}
  }

  function FrontRequest (ctx, incoming, outgoing) {
    this.app = app
    this.ctx = ctx
    this.response = null
    this.incoming = incoming
    this.outgoing = outgoing
    this.originalUrl = ctx.originalUrl
  }

  function FrontResponse (ctx, incoming, outgoing) {
    this.app = app
    this.ctx = ctx
    this.request = ctx.request
    this.incoming = incoming
    this.outgoing = outgoing
    this._body = undefined
    this._explicitStatus = undefined
    this._explicitNullBody = undefined
  }

  Context.prototype = context
  Request.prototype = request
  Response.prototype = response
  FrontContext.prototype = Object.create(context, FRONT)
  FrontRequest.prototype = Object.create(request, FRONT)
  FrontResponse.prototype = Object.create(response, FRONT)

  return {
    context,
    request,
    response,

    node (req, res) {
      const ctx = new Context(req, res)
      const request = ctx.request = new Request(ctx, req, res)
      request.response = ctx.response = new Response(ctx, req, res)
      return ctx
    },

    front (incoming, outgoing) {
      const ctx = new FrontContext(incoming, outgoing)
      const request = ctx.request = new FrontRequest(ctx, incoming, outgoing)
      request.response = ctx.response = new FrontResponse(ctx, incoming, outgoing)
      return ctx
    }
  }
}
