'use strict'

const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const path = require('node:path')
const assert = require('node:assert/strict')
const { tracingChannel } = require('node:diagnostics_channel')
const { once } = require('node:events')
const { pathToFileURL } = require('node:url')
const { register } = require('prom-client')
const { parse } = require('../../docs/.vitepress/exchanges')
const { isHandler, program } = require('../../docs/.vitepress/program')
const { install } = require('./area')
const share = require('./share')

const root = path.join(__dirname, '../..')
const PROJECT = path.join(root, 'test/docs/project') // the files that pages name: views, locales, an icon
// All of it is kept: Node 20 loses a channel that is made anew while the garbage of its namesake waits to be cleaned up.
const requests = tracingChannel('kone:request')
const AsyncFunction = (async () => {}).constructor

/**
 * The fenced blocks of a Markdown text, each with the comment that stands before it.
 *
 *    blocks('```js\n1 + 1 // => 2\n```')   // [{ language: 'js', code: '1 + 1 // => 2\n', line: 1 }]
 *
 * An `http` block belongs to the block before it, as its `exchanges`.
 */
exports.blocks = function (text) {
  const found = []
  const fence = /^(?: *<!-- (no-run|from|file): (.+?) -->\n+)?^( *)```(\w*)\n([\s\S]*?)^ *```$/gm
  for (const match of text.matchAll(fence)) {
    const [all, note, value, indent, language, source] = match
    const line = text.slice(0, match.index + all.indexOf('```')).split('\n').length
    const code = source.replaceAll(new RegExp(`^${indent}`, 'gm'), '')
    if (language === 'http') found.at(-1).exchanges = code
    else found.push({ language, code, line, ...(note && { [note]: value }) })
  }
  return found
}

/**
 * Run a block of JavaScript as its reader would: completed to a program, as the site's copy button does.
 *
 * - `expression // => value` is checked, and must have been reached
 * - the requests of an `http` block after it (`> GET /path`) are sent, and the responses compared (`< 200`)
 * - port 3000 becomes a free one, and every server is closed at the end
 */
exports.run = async function ({ code, exchanges = '' }) {
  const claims = []
  const errors = []
  const servers = listening()
  const printed = console.error // an app without an 'error' listener prints what its example throws
  const seen = ({ error }) => errors.push(error)
  requests.error.subscribe(seen)
  try {
    console.error = () => {}
    const sent = parse(exchanges || (isHandler(code) ? '> GET /\n' : ''))
    await evaluate(program(code, sent.map(({ request }) => request)), claims)
    for (const exchange of sent) await compare(exchange, [...servers].at(-1), errors)
  } finally {
    console.error = printed
    requests.error.unsubscribe(seen)
    servers.stop()
    register.clear() // the metrics of this process: the next block counts its own
  }
  for (const claim of claims) {
    assert.ok(claim.reached, `never reached: ${claim.line}`)
    if (claim.error) throw claim.error
  }
}

/** Whether a block stands in the file that its `from` names. */
exports.quotes = function ({ code, from }) {
  const lines = text => text.split('\n').map(line => line.trim()).filter(Boolean).join('\n')
  return lines(fs.readFileSync(path.join(root, from), 'utf8')).includes(lines(code))
}

async function evaluate ({ text, isModule }, claims) {
  const claim = (i, actual, expected) => {
    claims[i].reached = true
    try {
      if (expected instanceof RegExp) assert.match(actual, expected)
      else assert.deepEqual(plain(actual), expected)
    } catch (err) {
      claims[i].error = err
    }
  }
  const source = text
    .replace(/listen\(3000/g, 'listen(0')
    .replace(/^( *)(\S.*?) +\/\/ => (.+)$/gm, (line, indent, expression, expected) => {
      const i = claims.push({ line: line.trim() }) - 1
      return `${indent};__claim(${i}, ${expression}, ${expected})`
    })
  const scope = { process: deaf, console: quiet, __claim: claim }
  if (isModule) return imported(source, scope)
  Object.assign(scope, { require: resolve, exports: {}, module: {}, __dirname: PROJECT })
  const awaited = source.replace(/^main\(\)$/m, 'await main()')
  await new AsyncFunction(...Object.keys(scope), `'use strict'\n${awaited}`)(...Object.values(scope))
}

// What a page's reader would install is here in the packages of the checkout, or of the documentation.
function resolve (name) {
  return isHere(name) ? require(name) : area().require(name)
}

function area () {
  if (!share(false, true)) throw Object.assign(new Error(), { skip: 'in make test-all: it needs packages of docs/' })
  return install('../docs')
}

function isHere (name) {
  try {
    return Boolean(require.resolve(name))
  } catch (err) {
    if (err.code !== 'MODULE_NOT_FOUND' || !err.message.includes(`'${name}'`)) throw err
    return false
  }
}

// signals are for the test runner
const deaf = Object.assign(Object.create(process), { on () {}, once () {} })
const quiet = Object.fromEntries(Object.keys(console).map(name => [name, () => {}]))

async function imported (source, scope) {
  // inside the checkout, where `kone` is this package
  const folder = fs.mkdtempSync(path.join(root, 'test/.block-'))
  const file = path.join(folder, 'block.mjs')
  const own = Object.keys(scope).filter(name => !new RegExp(`^import ${name} `, 'm').test(source))
  try {
    for (const [, name] of source.matchAll(/^import .+ from '(?!node:|\.)((?:@[^/']+\/)?[^/']+)/gm)) {
      if (!isHere(name)) link(folder, name)
    }
    globalThis.__block = scope // which the module reads when it begins
    fs.writeFileSync(file, `const { ${own} } = globalThis.__block\n${source.replaceAll('import.meta.dirname', JSON.stringify(PROJECT))}`)
    await import(pathToFileURL(file))
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

// A package of the documentation, beside the block.
function link (folder, name) {
  const place = path.join(folder, 'node_modules', name)
  fs.mkdirSync(path.dirname(place), { recursive: true })
  fs.symlinkSync(path.join(area().folder, 'node_modules', name), place)
}

const plain = value =>
  value && Object.getPrototypeOf(value) === null ? { ...value } : value

/** The servers that begin to listen from now on. */
function listening () {
  const servers = new Set()
  const { listen } = net.Server.prototype
  net.Server.prototype.listen = function (...args) {
    servers.add(this)
    return listen.apply(this, args)
  }
  servers.stop = () => {
    net.Server.prototype.listen = listen
    for (const server of servers) {
      server.close()
      server.closeAllConnections?.()
    }
  }
  return servers
}

async function compare ({ request: { method, target, headers, body: sent }, expected }, server, errors) {
  assert.ok(server, 'the block has a request, but nothing listens')
  if (!server.listening) await once(server, 'listening')
  const { port } = server.address()
  const req = http.request({ port, method, path: target, headers: { ...headers }, agent: false })
  req.end(sent)
  const [res] = await once(req, 'response')
  let body = ''
  for await (const chunk of res.setEncoding('utf8')) body += chunk

  const exchange = `${method} ${target} → ${res.statusCode} ${body}`
  if (expected.status === undefined) {
    assert.deepEqual(errors, [], exchange)
    assert.notEqual(res.statusCode, 500, exchange)
    return
  }
  assert.equal(res.statusCode, expected.status, exchange)
  for (const [name, value] of Object.entries(expected.headers)) {
    assert.equal(String(res.headers[name.toLowerCase()]), value, `${exchange}: ${name}`)
  }
  if (expected.body !== undefined) assert.equal(body.trimEnd(), expected.body.trimEnd(), exchange)
}
