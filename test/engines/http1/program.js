'use strict'

/*
 * Apps as data, so that a fuzzer can make them and a person can read them: a program is a list of operations,
 *
 *   { level: 'fast', ops: [['set', 'X-A', 'a\r\nb'], ['body', 'text']], later: [['set', 'X-Late', '1']] }
 *
 * `level` is how the request is written down (see app.js). `ops` run in order; each result and each throw is noted with
 * the error's code. `later` runs at the step `release` or `free`, when the response is usually out.
 */

const { act } = require('./acts')
const { fast, materialised, readFast } = require('./app')
const { exchangeOf } = require('./harness')

/** Operations that touch ctx.req or ctx.res. */
const TOUCHING = new Set(['resSetHeader', 'resRemoveHeader', 'writeHead', 'write', 'resEnd', 'trailers', 'hints', 'processing',
  'resHas', 'state', 'req', 'readStream', 'resume', 'destroyReq', 'destroyRes', 'throwIn'])

/** A request as acts see it. */
class It {
  constructor (ctx, note) {
    this.ctx = ctx
    this.note = note
    this.others = exchangeOf(ctx)
  }

  get req () { return this.ctx.req }
  get res () { return this.ctx.res }
  get outgoing () { return this.ctx.response.outgoing }
  onFinished (fn) { return this.ctx.onFinished(fn) }
}

/** Middleware: the n-th request of a connection runs the n-th program of its exchange. */
async function run (ctx) {
  const exchange = exchangeOf(ctx)
  const { level = 'fast', ops = [], later = [] } = exchange.app[exchange.count % exchange.app.length] ?? {}
  exchange.request(ctx, level === 'materialised' ? materialised(ctx) : fast(ctx))
  const note = what => exchange.note(ctx, what)
  const it = new It(ctx, note)
  let watched = false

  const perform = async ([name, ...args]) => {
    const endsTwice = name === 'end' && ctx.response.outgoing.writableEnded
    if (!watched && (TOUCHING.has(name) || endsTwice || level === 'materialised')) watch()
    try {
      const result = act(it, [name, ...args])
      const value = result instanceof Promise ? await result : result
      if (value !== undefined && name !== 'hold') note(`${name} ${JSON.stringify(value)}`)
    } catch (err) {
      if (name === 'throw') throw err
      note(`${name} threw ${err.name} ${err.code}`)
    }
  }

  // Without a listener of its own a late error of a response would end the process. Whether a listener that comes after
  // the end is still notified of it is a matter of the same turn of the loop.
  function watch () {
    watched = true
    const { res } = ctx
    const event = what => exchange.event(ctx, what)
    const isLate = res.writableEnded
    res.on('error', err => isLate || event(`error ${err.code}`))
    if (isLate) return
    res.on('finish', () => event('finish'))
    res.on('close', () => event('close'))
  }

  if (later.length && !exchange.isFree) {
    exchange.held().then(async () => {
      for (const op of later) await perform(op)
    })
  }
  if (level === 'late') await readFast(ctx, note)
  for (const op of ops) await perform(op)
}

module.exports = { run }
