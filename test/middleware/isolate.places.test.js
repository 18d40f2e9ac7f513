'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const { fork } = require('node:child_process')
const { once } = require('node:events')
const net = require('node:net')
const path = require('node:path')

const { random } = require('../helpers/random')
const share = require('../helpers/share')
const until = require('../helpers/until')

/**
 * All places of isolate.server.js where code of a request can throw: the process lives, the client gets a response to the
 * error, a closed connection, or the response that was complete before, the app gets the error with the request's ctx once,
 * and the next ten requests are in no store of the failed one.
 */

const MAJOR = Number(process.versions.node.split('.')[0])
const SERVER = path.join(__dirname, 'isolate.server.js')

/** The response was complete. */
const WHOLE = /finish|res 'close'|req 'close'|res\.end|destroy\(\)|'close' of|^after/i

/** The client does not wait for more. */
const LEAVES = /aborted|cancel/

/** What the connection itself reports. */
const OF_CONNECTION = /aborted|Parse Error|ECONNRESET|EPIPE|socket hang up/

async function start (engine) {
  const child = fork(SERVER, [engine])
  child.on('exit', () => child.emit('error', new Error('the process has ended'))) // what is waited for fails
  const [{ port, ways, times, places }] = await once(child, 'message')
  const isWay = way => MAJOR >= 24 || way !== 'microtask' // which has no context on Node 20 and 22
  const schedule = ways.filter(isWay).flatMap(way => times.map(when => ({ way, when })))
  return {
    engine,
    cases: [...schedule, ...places.map(place => ({ place }))],
    talk: () => talk(port),
    async noted () {
      child.send({})
      const [noted] = await once(child, 'message')
      return noted
    },
    async stop () {
      child.removeAllListeners('exit')
      if (child.kill()) await once(child, 'exit')
    }
  }
}

async function talk (port) {
  const socket = net.connect(port, '127.0.0.1')
  const client = { socket, text: '', isClosed: false }
  socket.on('data', chunk => { client.text = (client.text + chunk.toString('latin1')).slice(0, 1e6) })
  socket.on('error', () => {})
  for (const event of ['end', 'close']) socket.on(event, () => { client.isClosed = true })
  await once(socket, 'connect')
  return client
}

async function next (client) {
  client.text = ''
  client.socket.write('GET /next HTTP/1.1\r\nHost: a\r\n\r\n')
  await until(() => client.text.endsWith('next'))
}

async function fail (site, kept, id, one) {
  const { place = one.when } = one
  const client = await site.talk()
  const query = new URLSearchParams({ ...one, id })
  const length = /aborted|req\.setTimeout/.test(place) ? 4 : 3 // a request that is complete has no such event
  client.socket.write(`POST /?${query} HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\nabc`)
  const reported = async () => {
    const { errors } = await site.noted()
    return errors.filter(err => err.id === id && !OF_CONNECTION.test(err.message))
  }
  if (LEAVES.test(place)) {
    if (/cancel/.test(place)) await until(() => client.text.length > 1000)
    else await until(async () => (await site.noted()).begun.includes(id))
    client.socket.destroy()
  } else if (WHOLE.test(place)) {
    await until(() => client.text.includes('whole'))
  } else {
    await until(() => client.isClosed || /^HTTP\/1\.1 (500|404) .*[^]+(Internal Server Error|Not Found)$/.test(client.text))
  }
  await until(async () => (await reported()).length > 0)
  for (const other of await Promise.all(Array.from({ length: 5 }, site.talk))) {
    await next(other)
    other.socket.destroy()
  }
  // Node's parser refuses what follows an exception that came with its read.
  for (let i = 0; i < 5; i++) await next(client.isClosed || length === 4 || site.engine === 'node' ? kept : client)
  client.socket.destroy()
  assert.equal((await reported()).length, 1, 'reported once')
}

describe('isolate, wherever code of a request throws', () => {
  for (const engine of ['front', 'node']) {
    it(`should fail this request alone, ${engine}`, async t => {
      const site = await start(engine)
      t.after(site.stop)
      const kept = await site.talk()
      await next(kept)
      const { chance } = random(engine === 'front' ? 1 : 2)
      for (const [i, one] of site.cases.filter(() => chance(share(0.25, 1))).entries()) {
        await fail(site, kept, String(i), one).catch(err => {
          throw new Error(`${one.place ?? `${one.way}, ${one.when}`}: ${err.message}`, { cause: err })
        })
      }
      const { seen } = await site.noted()
      assert.deepEqual(seen.filter(store => store !== null), [])
      kept.socket.destroy()
    })
  }
})
