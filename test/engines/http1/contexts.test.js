'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const cluster = require('node:cluster')
const { once } = require('node:events')
const net = require('node:net')
const path = require('node:path')
const tls = require('node:tls')

const { random } = require('../../helpers/random')
const share = require('../../helpers/share')
const until = require('../../helpers/until')
const { MAJOR, credentials, get } = require('./sides')

/**
 * A request fails in an AsyncLocalStorage, and the process goes on. Whatever later requests have called must not see that
 * store, on connections that are new, that were kept, and on that of the failed request: all WAYS of contexts-server.js to
 * throw × what keeps the process × ROWS × connections × transports.
 */

const TRANSPORTS = ['app.listen', 'callback', 'tls', 'cluster']
const KEEPERS = ['isolate', 'listener']
const SERVER = path.join(__dirname, 'contexts-server.js')

const FINISHED = ['handler', 'onFinished']
const STREAMS = [...FINISHED, "req 'end'", "req 'close'", "res 'finish'", "res 'close'"]
const UPGRADED = ['message', 'message', "message 'end'", "socket 'close'"]

const upgrade = 'GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
const post = (target, more) => `POST ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n\r\n`

/** What a client does: `says` what it writes, and what it waits for before it goes on. Then what the server has called. */
const ROWS = {
  'a request': { says: [id => get(`/plain?id=${id}`), 'plain'], keeps: true, hears: FINISHED },
  'a stream': { says: [id => get(`/stream?id=${id}`), '\r\n0\r\n\r\n'], keeps: true, hears: STREAMS },
  'pipelined requests': { says: [id => get(`/plain?id=${id}`).repeat(3), /plain[^]+plain[^]+plain$/], keeps: true, hears: [...FINISHED, ...FINISHED, ...FINISHED] },
  'a body in two reads': {
    says: [id => post(`/begun?id=${id}`, 'Content-Length: 6') + 'one', 'begun', 'two', '0\r\n\r\n'], keeps: true, hears: [...STREAMS, "req 'data'"]
  },
  chunks: {
    says: [id => post(`/begun?id=${id}`, 'Transfer-Encoding: chunked') + '3\r\none\r\n', 'begun', '3\r\ntwo\r\n0\r\n\r\n', '0\r\n\r\n'],
    keeps: true,
    hears: [...STREAMS, "req 'data'"]
  },
  'a bad chunk': {
    says: [id => post(`/begun?id=${id}`, 'Transfer-Encoding: chunked'), 'begun', 'junk\r\n'],
    hears: ['handler', /^clientError HPE/, "socket 'close'"]
  },
  'a client that leaves': {
    says: [id => post(`/begun?id=${id}`, 'Content-Length: 6') + 'one', 'begun'],
    leaves: true,
    hears: [...FINISHED, "req 'data'", "req 'aborted'", "req 'close'", "res 'close'", "socket 'close'"]
  },
  'Expect: 100-continue': { says: [id => post(`/begun?id=${id}`, 'Expect: 100-continue\r\nContent-Length: 3'), 'begun', 'one', '0\r\n\r\n'], keeps: true, hears: STREAMS },
  'another Expect': { says: [() => post('/', 'Expect: more\r\nContent-Length: 0'), 'expected'], keeps: true, hears: ['checkExpectation'] },
  'HTTP/1.0': { says: [id => `GET /stream?id=${id} HTTP/1.0\r\n\r\n`, 'ab'], hears: [...STREAMS, "socket 'close'"] },
  junk: { says: [() => 'junk\r\n\r\n'], hears: [/^clientError HPE/, "socket 'close'"] },
  upgrade: { says: [() => upgrade, '\r\n\r\n', 'one', 'one', 'two', 'two'], ends: true, hears: ['upgrade', ...UPGRADED] },
  connect: { says: [() => 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n', '\r\n\r\n', 'one', 'one', 'two', 'two'], ends: true, hears: ['connect', ...UPGRADED] },
  'an upgrade behind a request that waits': {
    says: [id => get(`/stored?id=${id}`), ' 103 ', () => upgrade, /stored[^]+ 101 [^]+\r\n\r\n$/, 'one', 'one', 'two', 'two'],
    ends: true,
    hears: ['handler', 'upgrade', ...UPGRADED]
  },
  'requests behind one that waits': {
    says: [
      id => get(`/stored?id=${id}`), ' 103 ', id => post(`/begun?id=${id}`, 'Expect: 100-continue\r\nContent-Length: 3'), /stored[^]+begun/,
      'one', '0\r\n\r\n', id => get(`/plain?id=${id}`), /plain$/
    ],
    keeps: true,
    hears: ['handler', ...STREAMS, ...FINISHED, "req 'data'"]
  }
}

/** Of a client that does not know TLS. */
const RAW = [
  { says: [() => 'GET / HTTP/1.1\r\n\r\n'], hears: [/^clientError ERR_SSL/, "socket 'close'"] },
  { says: [], ends: true, hears: ['clientError ECONNRESET', "socket 'close'"] }
]

/** The same of servers with a short timeout each. */
const TIMED = [
  { says: [() => 'GET / HT'], hears: ['clientError ERR_HTTP_REQUEST_TIMEOUT', "socket 'close'"] },
  { says: [id => get(`/never?id=${id}`)], hears: ["server 'timeout'", "socket 'close'"] },
  { says: [id => get(`/stream?id=${id}`), '\r\n0\r\n\r\n'], hears: [...STREAMS, "socket 'close'"] }
]

/** A process with the server, and what it is asked for. */
async function start (transport, keeper) {
  cluster.setupPrimary({ exec: SERVER })
  const child = transport === 'cluster' ? cluster.fork().process : fork(SERVER)
  let number = 0
  const ask = (command, what) => new Promise((resolve, reject) => {
    const mine = ++number
    const ended = () => reject(new Error(`the server has ended: ${command}`))
    const hear = message => {
      if (message.number !== mine) return
      child.off('message', hear)
      child.off('exit', ended)
      resolve(message.result)
    }
    child.on('message', hear)
    child.on('exit', ended)
    child.send({ number: mine, command, what })
  })
  const started = await ask('start', { transport, keeper, keys: await credentials() })
  const to = port => ({ port, host: '127.0.0.1', rejectUnauthorized: false })
  const raw = port => talk(net.connect(to(port)), 'connect')
  return {
    ...started,
    ask,
    ...transport === 'tls' ? { raw, talk: port => talk(tls.connect(to(port)), 'secureConnect') } : { talk: raw },
    async stop () {
      child.removeAllListeners('exit')
      if (child.kill()) await once(child, 'exit')
    }
  }
}

async function talk (socket, connected) {
  let text = ''
  socket.on('data', chunk => { text += chunk.toString('latin1') })
  socket.on('error', () => {})
  await once(socket, connected)
  let requests = 0
  return {
    port: String(socket.localPort),
    socket,
    nextId () { return `${this.port}.${++requests}` },
    write (bytes) {
      text = ''
      socket.write(bytes)
    },
    until: expected => until(() => typeof expected === 'string' ? text.includes(expected) : expected.test(text))
      .catch(err => { throw new Error(`${expected} is missing in ${JSON.stringify(text)}`, { cause: err }) })
  }
}

/** Holds one row. Returns what must have been called, with ids. */
async function hold (client, { says, leaves, ends, hears }) {
  const id = client.nextId()
  for (let i = 0; i < says.length; i += 2) {
    const [bytes, expected] = says.slice(i, i + 2)
    client.write(typeof bytes === 'function' ? bytes(id) : bytes)
    if (expected !== undefined) await client.until(expected)
  }
  if (leaves) client.socket.destroy()
  if (ends) client.socket.end()
  return hears.map(what => ({ what, id: isOfSocket(what) ? client.port : id }))
}

const isOfSocket = what => /clientError|socket|server|message|upgrade|connect|checkExpectation/.test(String(what))

/** What has not been called yet. */
function missing (expected, seen) {
  const left = [...seen]
  return expected.filter(({ id, what }) => {
    const at = left.findIndex(one => one.id === id && (what.test?.(one.what) ?? one.what === what))
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
}

/** Every row on a connection of its own, and those that keep theirs one behind another. */
async function everything ({ port, timed, talk, raw }, kept, failed, rows) {
  const names = Object.keys(rows)
  const keeping = Object.values(rows).filter(row => row.keeps)
  const expected = await Promise.all([
    ...names.map(async name => hold(await talk(port), rows[name])),
    ...names.map(async (name, i) => hold(kept[i], rows[name])),
    ...(raw === undefined ? [] : RAW).map(async row => hold(await raw(port), row)),
    ...TIMED.map(async (row, i) => hold(await talk(timed[i]), row)),
    (async () => {
      const all = []
      for (const row of keeping) all.push(...await hold(failed, row))
      return all
    })()
  ])
  return expected.flat()
}

/** @return {object[]} what later requests have called, and in which stores */
async function later (site, way, keeper) {
  const { ask, talk, port } = site
  const kept = await Promise.all(Object.keys(ROWS).map(() => talk(port)))
  for (const client of kept) await hold(client, ROWS['a request'])
  const failed = await talk(port)
  const before = await ask('errors')
  failed.write(get(`/fail?way=${encodeURIComponent(way)}&store=failed`))
  await failed.until(keeper === 'isolate' ? /Internal Server Error|Not Found/ : 'goes on')
  await until(async () => await ask('errors') > before)
  await ask('forget')
  const expected = await everything(site, kept, failed, ROWS)
  let seen = []
  await until(async () => {
    seen = await ask('seen')
    return missing(expected, seen).length === 0
  }).catch(() => {
    assert.fail(`${way}: not called: ${JSON.stringify(missing(expected, seen).map(({ id, what }) => `${id} ${what}`))}`)
  })
  for (const { socket } of [...kept, failed]) socket.destroy()
  const ports = new Set(expected.map(({ id }) => id.split('.')[0]))
  return seen.filter(({ id }) => ports.has(id.split('.')[0]))
}

describe('a request that failed outside of its promises', () => {
  const { pick } = random(1)
  for (const transport of share(['app.listen', pick(TRANSPORTS.slice(1))], TRANSPORTS)) {
    for (const keeper of share.long([pick(KEEPERS)], KEEPERS)) {
      it(`should leave its store to no later request: ${transport}, kept alive by ${keeper}`, async t => {
        const site = await start(transport, keeper)
        t.after(site.stop)
        // The first request is node's where other code has created the server.
        for (const port of [site.port, ...site.timed]) await hold(await site.talk(port), ROWS['a request'])
        // On Node 20 and 22 isolate cannot find the request of a microtask: see its README.
        const ways = site.ways.filter(way => MAJOR >= 24 || keeper !== 'isolate' || way !== 'microtask')
        const listening = transport === 'cluster' ? null : 'listening' // as with node:http: workers get sockets from the primary
        for (const way of new Set(['tick', ...share([pick(ways)], share.third(ways))])) {
          const seen = await later(site, way, keeper)
          const wrong = seen.filter(({ failed, listening: store }) => failed !== null || store !== listening)
          assert.deepEqual(wrong, [], way)
        }
      })
    }
  }
})
