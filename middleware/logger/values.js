'use strict'

const { escape } = require('../_shared/escape')
const sockets = require('../_shared/sockets')

const CLIENT_GONE = 499 // nginx's number for a client that left before its response

/** The values of a line by the name of their token: (ctx, start) => text or number. */
const VALUES = {
  url: ctx => escape(ctx.originalUrl),
  protocol: ctx => escape(ctx.protocol), // in Koa the text of a trusted client
  hostname: ctx => escape(ctx.hostname),
  method: ctx => escape(ctx.method),
  status: statusOf,
  'response-time': elapsed,
  date,
  referrer: ctx => escape(ctx.get('referer')),
  'http-version': httpVersion,
  'remote-addr': ctx => escape(ctx.ip),
  'user-agent': ctx => escape(ctx.get('user-agent')) || '-',
  'content-length': length,
  id: ctx => escape(String(ctx.state.id ?? '-'))
}

const lastDate = { second: 0, text: '' }

/** The format of the header Date; made once a second, not for every line. */
function date () {
  const second = Math.floor(Date.now() / 1000)
  if (second !== lastDate.second) {
    lastDate.second = second
    lastDate.text = new Date().toUTCString()
  }
  return lastDate.text
}

/** For a final there is no start, because a final runs after the handlers. */
function elapsed (ctx, start) {
  return start ? Date.now() - start : '-'
}

function statusOf (ctx) {
  return isGone(ctx) && !ctx.headerSent ? CLIENT_GONE : ctx.status
}

function length (ctx) {
  return sockets.of(ctx)?.bytes() ?? (ctx.response.get('Content-Length') || '-')
}

function httpVersion (ctx) {
  return (ctx.incoming ?? ctx.req).httpVersion
}

function isGone (ctx) {
  return (ctx.outgoing ?? ctx.res).writableEnded === false
}

module.exports = { VALUES, date, elapsed, httpVersion, isGone, length, statusOf }
