'use strict'

/*
 * What an echo over a WebSocket costs, as CPU time in proportion to ws: in a process of its own, because node's test runner
 * watches promises, at a third of a loop's time on Node 26.
 */

const assert = require('node:assert/strict')
const { once } = require('node:events')
const http = require('node:http')
const { setImmediate: immediate } = require('node:timers/promises')
const { Duplex } = require('node:stream')
const { WebSocketServer } = require('ws')
const Kone = require('kone')
const websocket = require('kone/middleware/websocket')
const { KEY, frame } = require('../helpers/handshake')

const RUNS = 5
const MOST_RUNS = 25
const MESSAGES = 20_000 // of a run: at least 20 ms
const FRAME = frame('hello, this is a message of 40 bytes ...')

/** A connection without a system behind it: what is left is what ws and kone compute. */
class Wire extends Duplex {
  writes = 0
  _read () {}
  setTimeout () {}
  setNoDelay () {}
  _write (chunk, encoding, callback) { this.writes++; callback() }
  _writev (chunks, callback) { this.writes++; callback() }
}

/**
 * Times what the same with ws alone takes: without the work of the system, which a server does most of all, it is more. A loop
 * gives text, whose way from bytes and back is a fifth of ws's own echo.
 */
const CONTENDERS = {
  ws: { echo: (socket, data, isBinary) => socket.send(data, { binary: isBinary }) },
  'ws with text': { echo: (socket, data) => socket.send(String(data)) },
  events: { of: 'ws', bound: 1.15, handler: socket => { socket.on('message', (data, isBinary) => { socket.send(data, { binary: isBinary }) }) } }, // 1.03
  loop: { of: 'ws with text', bound: 1.15, handler: async socket => { for await (const message of socket) await socket.send(message) } } // 1.02
}

async function main () {
  const servers = []
  const wires = {}
  for (const [name, { handler, echo }] of Object.entries(CONTENDERS)) {
    const server = http.createServer()
    servers.push(server)
    if (handler === undefined) {
      new WebSocketServer({ server }).on('connection', socket => socket.on('message', (data, isBinary) => echo(socket, data, isBinary)))
    } else {
      new Kone({ http1: false }).use(websocket(handler)).attach(server)
    }
    await once(server.listen(0), 'listening')
    wires[name] = await open(server)
  }
  const best = {}
  const ratioOf = name => best[name] / best[CONTENDERS[name].of]
  const isAbove = name => ratioOf(name) > CONTENDERS[name].bound
  // what disturbs one run does not disturb all of them
  for (let i = 0; i < MOST_RUNS && (i < RUNS || Object.keys(CONTENDERS).some(isAbove)); i++) {
    for (const name in CONTENDERS) best[name] = Math.min(best[name] ?? Infinity, await measure(wires[name]))
  }
  for (const wire of Object.values(wires)) wire.destroy()
  for (const server of servers) server.close()
  console.log(JSON.stringify(Object.fromEntries(Object.keys(CONTENDERS).map(name => [name, ratioOf(name)]))))
}

async function open (server) {
  const wire = new Wire()
  const req = new http.IncomingMessage(wire)
  Object.assign(req, { method: 'GET', url: '/', httpVersion: '1.1', httpVersionMajor: 1 })
  const fields = { host: 'a', connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-key': KEY, 'sec-websocket-version': '13' }
  for (const name in fields) req.headers[name] = fields[name]
  server.emit('upgrade', req, wire, Buffer.alloc(0))
  await immediate()
  return wire
}

/** CPU time of an echo, in µs. */
async function measure (wire) {
  wire.writes = 0
  const start = process.cpuUsage()
  for (let i = 0; i < MESSAGES; i++) {
    wire.push(Buffer.from(FRAME)) // ws unmasks it in place
    await turn()
  }
  const { user, system } = process.cpuUsage(start)
  assert.equal(wire.writes, MESSAGES)
  return (user + system) / MESSAGES
}

/** Behind the microtasks and ticks of an echo. */
function turn () {
  return new Promise(resolve => process.nextTick(() => queueMicrotask(() => process.nextTick(resolve))))
}

if (require.main === module) main()
else module.exports = CONTENDERS
