'use strict'

/*
 * What apps declare about the length of a body, and what they send: `node test/engines/http1/framing.js --seconds 60`, with
 * the flags of generator.js.
 *
 * A case is plain data: an engine of helpers/engines.js, and requests of one connection, each with its acts (see acts.js):
 *
 *    { engine: 'http1', requests: [{ method: 'GET', ops: [['body', 'ü'], ['declare', 'many', '1']] }] }
 *
 * Whatever the acts are, the client gets exactly the responses that `expected()` gives, one behind the other, each with one
 * Content-Length or with none. Two parsers say so, neither of which is kone's: that of node's own clients, for each request
 * when the one before has its response, and over HTTP/1.1 the one of siege/responses.js for all of them in one write, and for
 * the first one by HTTP/1.0.
 */

const net = require('node:net')
const { STATUS_CODES } = require('node:http')
const { once } = require('node:events')

const Kone = require('../../helpers/kone')
const { connect } = require('../../helpers/engines')
const { random } = require('../../helpers/random')
const { It, draw, expected } = require('./acts')
const { main } = require('./generator')
const { Responses } = require('./siege/responses')

/** Engine → whether its bytes can be read. */
const ENGINES = {
  callback: true,
  http1: true,
  'http1-materialised': true,
  listen: true,
  http2: false,
  inject: false,
  'inject-node': false,
  fetch: false,
  'fetch-materialised': false
}

const NAMES = ['body', 'length', 'declare', 'coding', 'range', 'status', 'type', 'turn']
const BODIES = ['text', 'ü€', '', ['buffer', 'abcd'], { json: 'ü' }, ['blob', 'ab', 'cd'], ['stream', 'ab', 'cd'], ['stream', 'é'],
  ['stream'], ['paced', 'ab', 'cd'], ['web', 'ab', 'cd'], ['file', 'some content'], null, undefined]
const STATUSES = [200, 204, 304, 401]

function generate (seed) {
  const rnd = random(seed)
  const one = () => {
    const name = rnd.pick(NAMES)
    if (name === 'body') return [name, rnd.pick(BODIES)]
    return name === 'status' ? [name, rnd.pick(STATUSES)] : draw(rnd, name)
  }
  const request = () => ({ method: rnd.chance(0.2) ? 'HEAD' : 'GET', ops: Array.from({ length: 1 + rnd.int(5) }, one) })
  return { engine: rnd.pick(Object.keys(ENGINES)), requests: Array.from({ length: 1 + rnd.int(3) }, request) }
}

class Bodies extends Responses {
  take (bytes) {
    super.take(bytes);
    (this.partial.body ??= []).push(Buffer.from(bytes))
  }
}

const NEXT = { method: 'GET', ops: [['body', 'the next one']] }

/** One app for all cases of an engine. */
async function serve (name) {
  const plans = []
  const app = new Kone({ env: 'production' })
  app.silent = true
  app.use(ctx => new It(ctx, {}).all(plans[Number(ctx.path.slice(1))].ops))
  return { plans, name, ...await connect(name, app) }
}

const servers = new Map()

async function judge ({ engine, requests }) {
  if (!servers.has(engine)) servers.set(engine, serve(engine))
  const server = await servers.get(engine)
  const isHttp2 = engine === 'http2'
  const all = [...requests, NEXT].map(({ method, ops }) => planOf(method, isHttp2 ? ops.filter(isOfHttp2) : ops, isHttp2))
  server.plans.splice(0, Infinity, ...all)
  const found = []
  const find = (index, detail) => found.push({ side: engine, what: 'a wrong response', detail: `${all[index].method} ${index}: ${detail}` })
  for (const [index, { method, must }] of all.entries()) {
    const wrong = await server.ask(`${method} /${index}`).then(response => wrongIn(response, must), err => must.isWhole ? err.message : '')
    if (wrong) find(index, wrong)
  }
  if (!ENGINES[engine]) return found
  const old = wrongInOld(await pipeline(server, all.slice(0, 1), '1.0'), all[0].must)
  if (old) find(0, `by HTTP/1.0: ${old}`)
  const { whole, error } = await pipeline(server, all)
  if (error !== null) find(whole.length, error)
  for (const [index, response] of whole.entries()) {
    const wrong = wrongIn(readBy(response), all[index].must)
    if (wrong) find(index, `in one write: ${wrong}`)
  }
  const cut = all.findIndex(({ must }) => !must.isWhole)
  const isLast = whole.at(-1)?.untilEnd // node ends a stream behind a body of null with the connection
  if (!isLast && whole.length < (cut === -1 ? all.length : cut)) find(whole.length, 'in one write: no response')
  return found
}

/** HTTP/2 has no Transfer-Encoding. */
const isOfHttp2 = ([name]) => name !== 'coding'

function planOf (method, ops, isHttp2) {
  const must = expected(ops, method)
  const isText = isHttp2 && must.body.equals(Buffer.from(STATUS_CODES[must.status])) // HTTP/2 has no reason phrases, either
  return { method, ops, must: isText ? { ...must, body: Buffer.from(String(must.status)), length: 3 } : must }
}

/** Cut where nothing was sent before, it is the one to the error. */
function wrongIn ({ status, headers, body, complete }, { isWhole, length, ...must }) {
  if (!isWhole) return complete && status !== 500 ? 'is whole' : ''
  if (!complete) return 'is cut'
  if (status !== must.status) return `has the status ${status} in place of ${must.status}`
  if (!body.equals(must.body)) return `has the body ${body} in place of ${must.body}`
  const found = headers['content-length']
  const isNodes = found === '0' && length === undefined && body.length === 0 // of an empty stream
  return found === length?.toString() || isNodes ? '' : `has the length ${found} in place of ${length}`
}

const readBy = response => ({ ...response, complete: true, body: Buffer.concat(response.body ?? []) })

/** HTTP/1.0 has no chunks: where the app declares no length, the end of the connection ends a body. */
function wrongInOld ({ whole: [response], error }, must) {
  if (error !== null) return error
  if (response === undefined) return must.isWhole ? 'no response' : ''
  if ('transfer-encoding' in response.headers) return 'has a Transfer-Encoding'
  return wrongIn(readBy(response), { ...must, length: response.headers['content-length'] })
}

/** All requests in one write; the responses, once the server has closed the connection. */
async function pipeline ({ port }, all, version = '1.1') {
  const responses = new Bodies(all.map(({ method }) => method))
  const socket = net.connect(port, '127.0.0.1')
  socket.on('data', chunk => responses.push(chunk)).on('error', () => {})
  const last = all.length - 1
  socket.write(all.map(({ method }, i) => `${method} /${i} HTTP/${version}\r\nHost: a\r\n${i === last ? 'Connection: close\r\n' : ''}\r\n`).join(''))
  await once(socket, 'close')
  responses.end()
  return responses
}

const framing = {
  generate,
  lanes: [judge],
  RULES: { lists: ['requests', 'ops'], usual: { engine: 'callback', method: 'GET' } },
  names: NAMES,
  namesOf: ({ requests }) => requests.flatMap(({ ops }) => ops.map(([name]) => name)),
  * casesOf () {},
  async close () {
    for (const server of servers.values()) await (await server).close()
    return []
  }
}

module.exports = { framing }

if (require.main === module) main(__filename, () => framing)
