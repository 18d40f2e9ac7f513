'use strict'

const fs = require('node:fs')
const http = require('node:http')
const net = require('node:net')
const path = require('node:path')
const assert = require('node:assert/strict')
const { once } = require('node:events')
const { pathToFileURL } = require('node:url')
const Kone = require('kone')

const root = path.join(__dirname, '../..')
const AsyncFunction = (async () => {}).constructor

/**
 * The fenced blocks of a Markdown text, each with the comment that stands before it.
 *
 *    blocks('```js\n1 + 1 // => 2\n```')   // [{ language: 'js', code: '1 + 1 // => 2\n', line: 1 }]
 *
 * An `http` block belongs to the block before it, as its `exchanges`.
 *
 * @param {String} text
 * @return {{ language: String, code: String, line: Number, note?: String, exchanges?: String }[]}
 */
exports.blocks = function (text) {
  const found = []
  const fence = /^(?: *<!-- (no-run|from): (.+?) -->\n+)?^( *)```(\w*)\n([\s\S]*?)^ *```$/gm
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
 * Run a block of JavaScript as its reader would.
 *
 * - `expression // => value` is checked, and must have been reached
 * - the request of an `http` block after it (`> GET /path`) is sent, and its response compared (`< 200`)
 * - port 3000 becomes a free one, and every server is closed at the end
 * - code that speaks of `ctx` outside of any function is the body of a middleware
 *
 * @param {{ code: String, exchanges?: String }} block
 * @throws if a claim is wrong
 */
exports.run = async function ({ code, exchanges = '' }) {
  const claims = []
  const errors = []
  const servers = listening()
  try {
    const app = await evaluate(code, claims, errors)
    const asked = parse(exchanges || (isHandler(code) ? '> GET /\n' : ''))
    if (asked.length && !servers.size) app.listen(0)
    for (const exchange of asked) await compare(exchange, [...servers].at(-1), errors)
  } finally {
    servers.stop()
  }
  for (const claim of claims) {
    assert.ok(claim.reached, `never reached: ${claim.line}`)
    if (claim.error) throw claim.error
  }
}

/**
 * Whether a block stands in the file that its `from` names.
 */
exports.quotes = function ({ code, from }) {
  const lines = text => text.split('\n').map(line => line.trim()).filter(Boolean).join('\n')
  return lines(fs.readFileSync(path.join(root, from), 'utf8')).includes(lines(code))
}

// it speaks of `ctx`, and nowhere is that a parameter
const isHandler = code => /\bctx\b/.test(code) && !/\(ctx[,)]|\bctx =>|, ctx\)/.test(code)

async function evaluate (code, claims, errors) {
  const claim = (i, actual, expected) => {
    claims[i].reached = true
    try {
      if (expected instanceof RegExp) assert.match(actual, expected)
      else assert.deepEqual(plain(actual), expected)
    } catch (err) {
      claims[i].error = err
    }
  }
  let source = code
    .replace(/listen\(3000/g, 'listen(0')
    .replace(/^( *)(\S.*?) +\/\/ => (.+)$/gm, (line, indent, expression, expected) => {
      const i = claims.push({ line: line.trim() }) - 1
      return `${indent};__claim(${i}, ${expression}, ${expected})`
    })

  if (/^import /m.test(code)) return imported(source, claim)
  if (isHandler(code)) source = `app.use(async (ctx, next) => {\n${source}\n})`
  const own = name => new RegExp(`(const|let|class) (${name}|\\{[^}]*\\b${name}\\b[^}]*\\})`).test(code)
  if (!own('app')) {
    source = `const app = new Kone({ keys: ['docs'] })\napp.on('error', err => __errors.push(err))\n${source}`
  }
  const Kone_ = own('Kone') ? {} : { Kone }
  const scope = { require, process: deaf, console: quiet, __claim: claim, __errors: errors, ...Kone_ }
  const fn = new AsyncFunction(...Object.keys(scope), `'use strict'\n${source}\nreturn app`)
  return fn(...Object.values(scope))
}

// signals are for the test runner
const deaf = Object.assign(Object.create(process), { on () {}, once () {} })
const quiet = Object.fromEntries(Object.keys(console).map(name => [name, () => {}]))

async function imported (source, claim) {
  // inside the checkout, where `kone` is this package
  const folder = fs.mkdtempSync(path.join(root, 'test/.block-'))
  const file = path.join(folder, 'block.mjs')
  globalThis.__claim = claim // read by handlers long after the import
  try {
    fs.writeFileSync(file, /\bapp\b/.test(source) ? `${source}\nexport { app }` : source)
    return (await import(pathToFileURL(file))).app
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

const plain = value =>
  value && Object.getPrototypeOf(value) === null ? { ...value } : value

/**
 * The servers that begin to listen from now on.
 */
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

/**
 *    > POST /users            what is sent: method and target, headers, an empty line, the body
 *    > Content-Type: text/plain
 *    >
 *    > tobi
 *    < 201                    what is answered; headers and body only where they are given
 *    < Location: /users/1
 */
function parse (text) {
  const exchanges = []
  let last
  for (const line of text.split('\n')) {
    const side = line[0]
    if (side === '>' && last !== '>') exchanges.push({ '>': [], '<': [] })
    if (side === '>' || side === '<') exchanges.at(-1)[side].push(line.slice(2))
    last = side
  }
  return exchanges.map(exchange => ({ request: message(exchange['>']), expected: message(exchange['<']) }))
}

function message ([first, ...lines]) {
  const end = lines.indexOf('')
  const head = end < 0 ? lines : lines.slice(0, end)
  return {
    first,
    headers: Object.fromEntries(head.map(line => /^(.+?): ?(.*)$/.exec(line).slice(1))),
    body: end < 0 ? undefined : lines.slice(end + 1).join('\n')
  }
}

async function compare ({ request, expected }, server, errors) {
  if (!server.listening) await once(server, 'listening')
  const [method, target] = request.first.split(' ')
  const { port } = server.address()
  const headers = { ...request.headers }
  const req = http.request({ port, method, path: target, headers, agent: false })
  req.end(request.body)
  const [res] = await once(req, 'response')
  let body = ''
  for await (const chunk of res.setEncoding('utf8')) body += chunk

  const told = `${request.first} → ${res.statusCode} ${body}`
  if (expected.first === undefined) {
    assert.deepEqual(errors, [], told)
    assert.notEqual(res.statusCode, 500, told)
    return
  }
  assert.equal(res.statusCode, parseInt(expected.first), told)
  for (const [name, value] of Object.entries(expected.headers)) {
    assert.equal(String(res.headers[name.toLowerCase()]), value, `${told}: ${name}`)
  }
  if (expected.body !== undefined) assert.equal(body.trimEnd(), expected.body.trimEnd(), told)
}
