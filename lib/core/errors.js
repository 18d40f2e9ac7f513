'use strict'

const { error, madeBy } = require('../engines/errors')
const lazy = require('../shared/lazy')

const httpErrors = lazy(() => require('../shared/http-errors'))

madeBy((...args) => httpErrors()(...args))

/**
 * Every error code of kone and its middleware: what it means, and the status of the response. Match
 * on `err.code`, never on messages. Where Node has a code (`ERR_HTTP_INVALID_HEADER_VALUE`, `HPE_*`,
 * `ECONNRESET`) kone uses Node's.
 */
const codes = {
  KONE_ERR_BODY_ABORTED: 'the client went away before its body was complete (400)',
  KONE_ERR_BODY_LENGTH: 'a stream is longer than its Content-Length: the rest was not sent (–)',
  KONE_ERR_BODY_LIMIT: 'the body is longer than the limit (413)',
  KONE_ERR_BODY_USED: 'the body was read before, as a stream, or the response was sent (500)',
  KONE_ERR_CLOSE_TIMEOUT: 'a function of app.onClose() was not over when the time to close was (–)',
  KONE_ERR_HOST: 'Host, a trusted X-Forwarded-Host or `:authority` has a character that no host has (400)',
  KONE_ERR_NODE_ONLY: 'ctx.req or ctx.res was read in app.fetch() on Bun or Deno (500)',
  KONE_ERR_NON_ERROR: 'a value that is not an Error was thrown; it is the `cause` (500)',
  KONE_ERR_RATE_LIMIT_STORE: 'rateLimit cannot count, because its store fails (503)',
  KONE_ERR_REDIRECT: 'the target of a redirect is not a URL that may be sent to a client (500)',
  KONE_ERR_RESPONSE_LOST: 'the connection closed before the response was sent; ctx.onFinished() calls back with it (–)',
  KONE_ERR_SESSION_RECORD: 'a stored session is not JSON; its client gets an empty session (–)',
  KONE_ERR_SESSION_SIZE: 'a sealed session does not fit into a cookie (500)',
  KONE_ERR_SESSION_STORE: 'the store of the sessions fails (503)',
  KONE_ERR_SOCKET_CLOSED: 'a message was sent on a WebSocket that is closed; a handler of websocket() that ends with it is not reported (–)',
  KONE_ERR_STORE_DOWN: 'a store failed five times in succession and is not called until it responds; a `cause`, as the next one (503)',
  KONE_ERR_STORE_TIMEOUT: 'a store did not respond in time; the `cause` of KONE_ERR_RATE_LIMIT_STORE and KONE_ERR_SESSION_STORE (503)',
  KONE_ERR_TIMEOUT: 'no response within the time that timeout() allows (503)'
}

/** @return {Error} for a body stream that closed before it ended; the code is Node's */
function cutShort () {
  return Object.assign(new Error('the body stream closed before it ended'), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
}

/** @return {Error} for a body stream that goes on after its declared length; the response is complete */
function overlong (length) {
  const message = `the body stream is longer than its Content-Length of ${length}: the rest was not sent`
  return Object.assign(new Error(message), { code: 'KONE_ERR_BODY_LENGTH' })
}

/** Name of the method of ctx that gives status and fields of an error's response: Koa 2 and Koa 3 differ. */
const RESPONSE_TO = Symbol('context#responseTo')

module.exports = { RESPONSE_TO, codes, error, cutShort, httpErrors, overlong }
