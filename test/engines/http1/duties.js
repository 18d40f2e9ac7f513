'use strict'

/*
 * Node's private duties: `make node-duties`.
 *
 * The front does work that node:http does in functions that it does not export. When a version of Node changes one of
 * them (the abort signal of a request and `httpValidation` came that way), the front has to follow. So has the code that
 * puts methods in place of node's (tools/eslint/replaced.js), which certain functions of node have to call. This command
 * compares the functions of every Node at hand with those that were read, of which duties.json keeps digests.
 *
 *   --renew       the functions were read: keep their digests
 *   --node PATH   this Node alone
 */

const { execFile } = require('node:child_process')
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { promisify } = require('node:util')

const { parse } = require('acorn')
const { binary, kept } = require('../../../benchmarks/lib/servers/binaries')
const commandLine = require('../../../tools/command-line')
const replaced = require('../../../tools/eslint/replaced')

const run = promisify(execFile)

const FILE = path.join(__dirname, 'duties.json')

/** The supported lines of Node. */
const LINES = [20, 22, 24, 26]

const READ_IT = 'Read it, follow it in these files, then renew: make node-duties ARGS="--renew"'
const HTTP1 = 'lib/front'

/** Where the front does the work of node's functions: a module of node → a file of lib/front → functions. */
const DUTIES = {
  _http_server: {
    'index.js': [
      'Server', 'storeHTTPOptions', 'setupConnectionsTracking', 'httpServerPreClose', 'Server.prototype.close',
      'Server.prototype.closeAllConnections', 'Server.prototype.closeIdleConnections', 'Server.prototype.setTimeout'
    ],
    'timeouts.js': ['checkConnections', 'onRequestTimeout', 'onParserTimeout', 'resetSocketTimeout'],
    'connection.js': [
      'connectionListener', 'connectionListenerInternal', 'abortIncoming', 'abortOutgoing', 'socketOnClose', 'socketOnEnd',
      'socketOnTimeout', 'updateOutgoingData', 'parserOnIncoming', 'clearIncoming'
    ],
    'errors.js': ['socketOnError', 'onParserExecuteCommon'],
    'node/handover.js': ['unconsume', 'generateSocketListenerWrapper'],
    'node/socket.js': ['socketOnData', 'onParserExecute', 'onSocketPause', 'onSocketResume', 'socketSetEncoding'],
    'node/message.js': ['resOnFinish', 'onResponseFinish', 'emitCloseNT'],
    'node/response.js': [
      'ServerResponse', 'onServerResponseClose', 'socketOnDrain', 'ServerResponse.prototype._finish',
      'ServerResponse.prototype.assignSocket', 'ServerResponse.prototype.detachSocket',
      'ServerResponse.prototype._implicitHeader', 'writeHead'
    ]
  },
  _http_incoming: {
    'input/headers.js': ['matchKnownFields', '_addHeaderLine', '_addHeaderLines'],
    'node/message.js': [
      'IncomingMessage', 'IncomingMessage.prototype._read', 'IncomingMessage.prototype._destroy',
      'IncomingMessage.prototype._dump', 'IncomingMessage.prototype._dumpAndCloseReadable',
      'IncomingMessage.prototype[kAttachAbortSignal]', 'IncomingMessage.prototype[kDetachAbortSignal]', 'abortSignal', 'onError'
    ]
  },
  _http_outgoing: {
    '../engines/field-names.js': [
      'OutgoingMessage.prototype.setHeader', 'OutgoingMessage.prototype.removeHeader', 'isLenientHeaderValidation'
    ],
    'output/writer.js': ['_storeHeader', 'processHeader', 'storeHeader', 'matchHeader'],
    'node/response.js': [
      'OutgoingMessage', '_writeRaw', 'write_', 'onFinish', 'connectionCorkNT', 'OutgoingMessage.prototype._send',
      'OutgoingMessage.prototype.uncork', 'OutgoingMessage.prototype.destroy', 'OutgoingMessage.prototype.end',
      'OutgoingMessage.prototype._finish', 'OutgoingMessage.prototype._flush', 'OutgoingMessage.prototype._flushOutput',
      'OutgoingMessage.prototype.flushHeaders', 'queueEndCallback', 'flushEndCallbacks', 'maybePrepareFinalChunk'
    ]
  },
  _http_agent: { 'node/socket.js': ['asyncResetHandle'] },
  net: { 'node/socket.js': ['initSocketHandle', 'closeSocketHandle', 'onconnection'] },
  _http_common: {
    'connection.js': ['parserOnHeadersComplete', 'parserOnMessageComplete', 'closeParserInstance', 'freeParser'],
    'input/body.js': ['parserOnBody'],
    '../engines/field-names.js': ['checkIsHttpToken', 'checkInvalidHeaderChar'],
    'errors.js': ['prepareError']
  }
}

/** The modules of which the names of all functions are compared, too, because a new function may be a new duty. */
const NAMED = Object.keys(DUTIES)

// What has to call the methods that kone puts in place of node's.
for (const [file, entries] of Object.entries(replaced)) {
  for (const [name, duties] of Object.values(entries).flatMap(({ node }) => Object.entries(node))) {
    const known = (DUTIES[name] ??= {})[path.posix.relative(HTTP1, file)] ??= []
    known.push(...duties.filter(duty => !known.includes(duty)))
  }
}

/** Runs in the Node under test: prints the sources of these modules, which `require` does not give. */
function print (modules) {
  require('node:http')
  require('node:fs').ReadStream // eslint-disable-line no-unused-expressions -- loads internal/fs/streams
  const session = new (require('node:inspector').Session)()
  const sources = {}
  session.connect()
  session.on('Debugger.scriptParsed', ({ params: { url, scriptId } }) => {
    const name = url.replace(/^node:/, '')
    if (!modules.includes(name)) return
    session.post('Debugger.getScriptSource', { scriptId }, (err, result) => {
      if (err) throw err
      sources[name] = result.scriptSource
    })
  })
  session.post('Debugger.enable')
  process.stdout.write(JSON.stringify({ version: process.versions.node, sources }))
}

/**
 * The sources of node's modules for http.
 *
 *    const { version, sources } = await read(process.execPath)
 *    sources._http_server // "'use strict'; …"
 */
async function read (node) {
  const { stdout } = await run(node, ['-e', `(${print})(${JSON.stringify(Object.keys(DUTIES))})`], { maxBuffer: 16e6 })
  return JSON.parse(stdout)
}

/** Name → source, of the functions at the top level of a module: declared, or assigned to a prototype. */
function functions (source) {
  const found = {}
  const text = ({ start, end }) => source.slice(start, end)
  const { body } = parse(source, { ecmaVersion: 'latest', allowReturnOutsideFunction: true })
  for (const node of body) {
    const { type, expression } = node
    if (type === 'FunctionDeclaration' || type === 'ClassDeclaration') found[node.id.name] = text(node)
    else if (expression?.right?.type === 'FunctionExpression') found[text(expression.left)] = text(expression.right)
  }
  return found
}

const digest = text => createHash('sha256').update(text).digest('hex').slice(0, 16)

/**
 * The digests of the functions whose work the front does; `names` is that of the names of all functions.
 *
 *    digests({ _http_server: 'function resOnFinish () {}', … })._http_server.resOnFinish // '5d6c…'
 */
function digests (sources) {
  const modules = {}
  for (const [name, files] of Object.entries(DUTIES)) {
    const all = functions(sources[name] ?? '')
    const known = modules[name] = NAMED.includes(name) ? { names: digest(Object.keys(all).sort().join()) } : {}
    for (const duty of Object.values(files).flat()) if (all[duty] !== undefined) known[duty] = digest(all[duty])
  }
  return modules
}

/**
 * What differs from the functions that were read.
 *
 *    changes({ _http_server: { names: 'a', abortIncoming: 'b' } }, { _http_server: { names: 'a' } })
 *    // [{ name: '_http_server', duty: 'abortIncoming', what: 'is gone' }]
 */
function changes (before, now) {
  return Object.keys({ ...before, ...now }).flatMap(name => {
    const [old, current] = [before[name] ?? {}, now[name] ?? {}]
    return Object.keys({ ...old, ...current }).filter(duty => old[duty] !== current[duty]).map(duty => ({
      name,
      duty,
      what: current[duty] === undefined ? 'is gone' : old[duty] === undefined ? 'is new' : 'has changed'
    }))
  })
}

/** The files that do the work of `duty`, or that it has to call. */
function doneIn (name, duty) {
  const files = Object.entries(DUTIES[name] ?? {}).filter(([, duties]) => duties.includes(duty))
  return files.map(([file]) => path.posix.join(HTTP1, file)).join(', ')
}

/** Compare a Node with what was read of its line. */
function compare ({ version, sources }, book) {
  const [line] = version.split('.')
  const { version: before, ...modules } = book[line] ?? {}
  const found = changes(modules, digests(sources))
  if (found.length === 0) return { line, before, found, sentence: '' }
  if (before === undefined) return { line, before, found, sentence: `Nobody has read node:http of Node ${line} yet. ${READ_IT}` }
  const rows = found.map(({ name, duty, what }) => duty === 'names'
    ? `  node:${name}: functions came or went; is one of them a duty that test/engines/http1/duties.js has to list?`
    : `  node:${name}: ${duty} ${what}; kone does its work, or relies on its calls, in ${doneIn(name, duty)}`)
  const title = `Node ${version} does other work for a request than ${before}, which kone follows:`
  return { line, before, found, sentence: [title, ...rows, READ_IT].join('\n') }
}

/** The functions that differ, as lines of a diff. */
async function explain (found, old, sources) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-duties-'))
  try {
    for (const name of new Set(found.map(change => change.name))) {
      const [was, is] = [functions(old[name]), functions(sources[name])]
      const duties = found.filter(change => change.name === name).flatMap(({ duty }) => duty !== 'names'
        ? duty
        : Object.keys({ ...was, ...is }).filter(key => was[key] === undefined || is[key] === undefined))
      for (const [file, all] of [['before', was], ['now', is]]) {
        const text = [...new Set(duties)].filter(duty => all[duty] !== undefined).map(duty => `${all[duty]}\n`).join('\n')
        fs.writeFileSync(path.join(folder, file), text)
      }
      const args = ['diff', '--no-index', '--no-color', 'before', 'now']
      const { stdout } = await run('git', args, { cwd: folder }).catch(err => err) // with a difference it exits with 1
      console.log(`\nnode:${name}\n${stdout.split('\n').slice(4).join('\n')}`)
    }
  } finally {
    fs.rmSync(folder, { recursive: true })
  }
}

/** Each Node at hand: this one, and those that are kept for tests and benchmarks. */
function atHand () {
  return [process.execPath, ...LINES.map(line => kept(String(line))?.file).filter(file => file !== undefined)]
}

async function main () {
  const { values } = commandLine('node-duties', { renew: { type: 'boolean' }, node: { type: 'string', value: 'file' } }, 'test/engines/http1/duties.js')
  const book = JSON.parse(fs.readFileSync(FILE, 'utf8'))
  for (const file of values.node === undefined ? atHand() : [values.node]) {
    const node = await read(file)
    const { line, before, found, sentence } = compare(node, book)
    if (sentence === '') {
      console.log(`Node ${node.version}: as ${before}`)
    } else if (values.renew) {
      book[line] = { version: node.version, ...digests(node.sources) }
      console.log(`Node ${node.version}: renewed`)
    } else {
      process.exitCode = 1
      console.log(sentence)
      if (before === undefined) continue
      const old = await binary(before).then(({ file }) => read(file)).catch(err => console.log(`no diff: ${err.message}`))
      if (old) await explain(found, old.sources, node.sources)
    }
  }
  if (values.renew) fs.writeFileSync(FILE, `${JSON.stringify(book, null, 2)}\n`)
}

if (require.main === module) main()

module.exports = { DUTIES, LINES, FILE, read, functions, compare, digests }
