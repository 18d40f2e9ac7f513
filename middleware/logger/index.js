'use strict'

const whenFinished = require('../_shared/finished')
const { Rule, check, fn, list, string } = require('../_shared/options')

const TOKEN = new RegExp(':(?:(req|res)\\[([^\\]]+)\\]|(url|protocol|hostname|method|status|' +
  'response-time|date|referrer|http-version|remote-addr|user-agent|content-length|id))', 'g')
const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'mark']
const CLIENT_GONE = 499 // nginx's number for a client that left before its answer

const level = new Rule(`'auto' or one of ${LEVELS.join(', ')}`, value => {
  return ['auto', ...LEVELS].includes(nameOf(value))
})
const pattern = new Rule('a RegExp or a string', value => typeof value === 'string' || value instanceof RegExp)
const token = new Rule('a token', value => {
  return (typeof value?.token === 'string' && value.token !== '') || value?.token instanceof RegExp
})
const OPTIONS = {
  format: string.or(fn),
  level,
  nolog: pattern.or(list(pattern, 'them')),
  tokens: list(token, 'objects whose token is a non-empty string or a RegExp')
}
const ALONE = { ...OPTIONS, transporter: fn }

/**
 * One line per request, when its answer is out or the client is gone.
 *
 *    app.use(logger())                                  // stdout
 *    app.use(logger(log4js.getLogger('http'), { level: 'auto' }))
 *    app.use(logger(pino(), { format: ':method :url :status :response-time' }))
 *    app.use(logger(line => lines.push(line)))
 *
 * Whatever a client can say is escaped (quotes, backslashes, control characters) and never
 * expanded as a token.
 *
 * @param {object|Function} [log] a log4js, pino or similar logger; or a function that is called
 *   back with (line, args), also as `{ transporter }`; stdout when left out
 * @param {object|string|Function} [options] or the format alone
 * @param {string|Function} [options.format] tokens: :remote-addr :method :url :http-version
 *   :protocol :hostname :status :content-length :referrer :user-agent :response-time (ms) :date
 *   :id :req[field] :res[field]; or (ctx, expand) => line, '' for none
 * @param {string|object} [options.level] of the logger, default 'info'; 'auto' goes by the status
 * @param {RegExp|string|Array<RegExp|string>} [options.nolog] urls that are not logged
 * @param {Array<{ token, replacement?, content? }>} [options.tokens] your own
 * @return {Function} middleware
 * @throws {TypeError} for a logger or an option that cannot work
 * @api public
 */
module.exports = function logger (log, options) {
  const record = recorder(log, options)

  return function logger (ctx, next) {
    const { request } = ctx
    if (request._logging || record.skips(ctx)) return next()
    request._logging = true // as koa-log4: a mounted app's own logger adds no second line

    // a socket forgets its address when it closes, ctx.ip remembers it
    if (record.address) ctx.ip // eslint-disable-line no-unused-expressions
    const start = record.timed ? Date.now() : 0
    whenFinished(ctx, () => record.write(ctx, start))
    return next()
  }
}

/**
 * The same for `app.final`. It begins after the handlers, so it knows no response time; the failed
 * and aborted requests, which no final sees, it logs from the app's first answer on.
 *
 *    app.final(logger.final(log4js.getLogger('http'), { level: 'auto' }))
 *
 * @param {object|Function} [log]
 * @param {object|string|Function} [options]
 * @return {Function} (ctx) => void
 * @api public
 */
module.exports.final = function final (log, options) {
  const record = recorder(log, options)
  const apps = new WeakSet()

  function missed (ctx) {
    if (!ctx.request._logging && !record.skips(ctx)) record.write(ctx, 0)
  }

  return function logger (ctx) {
    const { app, request } = ctx
    if (!apps.has(app)) {
      apps.add(app)
      app.on('finish', missed)
    }
    if (request._logging || record.skips(ctx)) return
    request._logging = true
    whenFinished(ctx, () => record.write(ctx, 0))
  }
}

function recorder (log, options) {
  if (isOptions(log)) {
    options = check('logger', log, ALONE)
    log = options.transporter
  } else {
    if (typeof options === 'string' || typeof options === 'function') options = { format: options }
    options = check('logger', options, OPTIONS)
  }
  const { format, level = 'info', nolog, tokens = [] } = options
  const { line, timed } = formatter(format, tokens, typeof log === 'function')
  const quiet = patterns(nolog)

  return {
    timed,
    address: typeof format !== 'string' || format.includes(':remote-addr') || tokens.length > 0,
    skips: ctx => quiet.length > 0 && quiet.some(one => one.test(ctx.originalUrl)),
    write: writer(log, nameOf(level), line)
  }
}

function isOptions (log) {
  return log !== null && typeof log === 'object' &&
    typeof log.info !== 'function' && typeof log.log !== 'function'
}

/** Of log4js' Level objects, too. */
function nameOf (level) {
  return String(level?.levelStr ?? level).toLowerCase()
}

function patterns (nolog) {
  return [].concat(nolog ?? []).map(one => {
    if (typeof one === 'string') return new RegExp(one)
    // a copy: with the g or y flag it would remember where it stopped
    return new RegExp(one, one.flags.replace(/[gy]/g, ''))
  })
}

// where a line goes

function writer (log, level, line) {
  if (log === undefined || log === null) return toStdout(line)
  if (typeof log === 'function') {
    return (ctx, start) => {
      const text = line(ctx, start)
      if (text) log(text, parts(ctx, start))
    }
  }

  const names = level === 'auto' ? ['info', 'warn', 'error'] : [level]
  const missing = names.find(name => typeof log[name] !== 'function')
  if (missing) throw new TypeError(`logger: options.level: the given logger has no method ${missing}()`)

  return (ctx, start) => {
    const name = level === 'auto' ? levelOf(statusOf(ctx)) : level
    if (log.isLevelEnabled && !log.isLevelEnabled(name)) return
    const text = line(ctx, start)
    if (text) log[name](text)
  }
}

function levelOf (status) {
  if (status >= 400) return 'error'
  return status >= 300 ? 'warn' : 'info'
}

/** One write for all lines of a turn of the event loop: a write per line costs more than a line. */
function toStdout (line) {
  let lines = []

  function flush () {
    const text = lines.join('\n')
    lines = []
    if (text) console.log(text)
  }

  process.on('exit', flush)
  return (ctx, start) => {
    const text = line(ctx, start)
    if (text && lines.push(text) === 1) setImmediate(flush)
  }
}

// what a line says

function formatter (format, tokens, isTransporter) {
  if (typeof format === 'function') {
    const expand = expander(tokens)
    return {
      timed: true,
      line: (ctx, start) => {
        const line = format(ctx, text => expand(text, ctx, start))
        return line && clean(String(line), CONTROL)
      }
    }
  }
  if (format === undefined && tokens.length === 0) {
    return { timed: true, line: isTransporter ? short : common }
  }
  const { fill, timed } = compile(format ?? COMMON, tokens)
  return { timed, line: fill }
}

const COMMON = ':remote-addr - - [:date] ":method :url HTTP/:http-version" :status :content-length ' +
  '":referrer" ":user-agent" :response-time ms'

/** COMMON written out: three times as fast as its compiled tokens; and the request's id, if any. */
function common (ctx, start) {
  const id = ctx.state?.id
  const line = `${clean(ctx.ip)} - - [${date()}] "${clean(ctx.method)} ${clean(ctx.originalUrl)} HTTP/` +
    `${httpVersion(ctx)}" ${statusOf(ctx)} ${length(ctx)} "${clean(ctx.get('Referer'))}" ` +
    `"${clean(ctx.get('User-Agent')) || '-'}" ${elapsed(ctx, start)} ms`
  return id === undefined ? line : `${line} ${clean(String(id))}`
}

const lastDate = { second: 0, text: '' }

/** As in the header Date; made once a second, not for every line. */
function date () {
  const second = Math.floor(Date.now() / 1000)
  if (second !== lastDate.second) {
    lastDate.second = second
    lastDate.text = new Date().toUTCString()
  }
  return lastDate.text
}

/** Of a final, which begins after the handlers, there is no start. */
function elapsed (ctx, start) {
  return start ? Date.now() - start : '-'
}

/** koa-logger's line without its colours, and `-x-` for a client that left. */
function short (ctx, start) {
  const [format, ...values] = parts(ctx, start)
  let i = 0
  return format.replace(/%s/g, () => values[i++])
}

function parts (ctx, start) {
  return [
    `  ${isGone(ctx) ? '-x-' : '-->'} %s %s %s %s %s`,
    clean(ctx.method),
    clean(ctx.originalUrl),
    statusOf(ctx),
    duration(start),
    humanSize(length(ctx))
  ]
}

function duration (start) {
  if (!start) return '-'
  const ms = Date.now() - start
  return ms < 10000 ? `${ms}ms` : `${Math.round(ms / 1000)}s`
}

function humanSize (bytes) {
  if (bytes === '-' || bytes < 1024) return bytes === '-' ? '-' : `${bytes}b`
  const power = Math.min(Math.floor(Math.log2(bytes) / 10), 4)
  return `${parseFloat((bytes / 1024 ** power).toFixed(2))}${['b', 'kb', 'mb', 'gb', 'tb'][power]}`
}

const VALUES = {
  url: ctx => clean(ctx.originalUrl),
  protocol: ctx => ctx.protocol,
  hostname: ctx => clean(ctx.hostname),
  method: ctx => clean(ctx.method),
  status: statusOf,
  'response-time': elapsed,
  date,
  referrer: ctx => clean(ctx.get('Referer')),
  'http-version': httpVersion,
  'remote-addr': ctx => clean(ctx.ip),
  'user-agent': ctx => clean(ctx.get('User-Agent')) || '-',
  'content-length': length,
  id: ctx => clean(String(ctx.state.id ?? '-'))
}

/** Cut a format into text and functions of (ctx, start), once. */
function compile (format, tokens) {
  let pieces = [format]
  for (const token of tokens) pieces = pieces.flatMap(piece => cut(piece, token))
  pieces = pieces.flatMap(piece => cut(piece, { token: TOKEN, value: standard }))

  return {
    timed: pieces.some(piece => piece === VALUES['response-time']),
    fill (ctx, start) {
      let line = ''
      for (const piece of pieces) line += typeof piece === 'string' ? piece : piece(ctx, start)
      return line
    }
  }
}

function cut (piece, token) {
  if (typeof piece !== 'string') return [piece]
  const found = token.token instanceof RegExp
    ? piece.matchAll(new RegExp(token.token, token.token.flags.replace(/[gy]/g, '') + 'g'))
    : positions(piece, token.token)
  const pieces = []
  let end = 0
  for (const match of found) {
    pieces.push(piece.slice(end, match.index), (token.value ?? custom(token))(match))
    end = match.index + match[0].length
  }
  pieces.push(piece.slice(end))
  return pieces
}

function * positions (text, token) {
  for (let index = text.indexOf(token); index >= 0; index = text.indexOf(token, index + 1)) {
    yield { 0: token, index }
  }
}

function standard ([, side, field, name]) {
  if (name) return VALUES[name]
  if (side === 'req') return ctx => clean(ctx.get(field)) || '-'
  return ctx => clean(String(ctx.response.get(field) ?? '')) || '-'
}

/** koa-log4's { token, replacement } and { token, content: ctx => replacement }. */
function custom ({ token, replacement, content }) {
  if (typeof content !== 'function' && typeof replacement === 'string') {
    return match => match[0].replace(token, replacement)
  }
  return match => ctx => {
    const value = typeof content === 'function' ? content(ctx) : replacement
    return clean(String(typeof value === 'function' ? value(...match) : value))
  }
}

/** What a format function expands is text of the program, so a few formats at most. */
function expander (tokens) {
  const compiled = new Map()
  return (format, ctx, start) => {
    let known = compiled.get(format)
    if (known === undefined) {
      if (compiled.size === 100) compiled.clear()
      known = compile(format, tokens).fill
      compiled.set(format, known)
    }
    return known(ctx, start)
  }
}

function statusOf (ctx) {
  return isGone(ctx) && !ctx.headerSent ? CLIENT_GONE : ctx.status
}

function length (ctx) {
  return ctx.response.get('Content-Length') || '-'
}

function httpVersion (ctx) {
  return (ctx.incoming ?? ctx.req).httpVersion
}

function isGone (ctx) {
  return (ctx.outgoing ?? ctx.res).writableEnded === false
}

// C0, DEL and C1 move a terminal's cursor or end the line; the quote ends a field of it
const UNSAFE = /["\\\x00-\x1f\x7f-\x9f]/ // eslint-disable-line no-control-regex
const CONTROL = /[\x00-\x1f\x7f-\x9f]/ // eslint-disable-line no-control-regex

function clean (text, unsafe = UNSAFE) {
  if (!unsafe.test(text)) return text
  return text.replace(new RegExp(unsafe, 'g'), char => {
    if (char === '"' || char === '\\') return '\\' + char
    return '\\x' + char.charCodeAt(0).toString(16).padStart(2, '0')
  })
}
