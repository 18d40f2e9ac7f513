'use strict'

const { before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')

const temporary = require('../helpers/folder')
const { exceptionFor } = require('../helpers/linear/exceptions')
const given = require('../helpers/linear/given')
const { superLinear } = require('../helpers/linear/growth')
const { loadedDependencies, namesIn, ownFiles } = require('../helpers/linear/names')
const { recorded, send } = require('../helpers/linear/request')
const shapes = require('../helpers/linear/shapes')
const stations = require('../helpers/linear/stations')
const { long } = require('../helpers/share')

/*
 * Whatever a client sends costs CPU linear in its bytes. Hostile text of growing size goes into every request header that
 * kone or a package below it reads, the path, the query, cookies and bodies, through every middleware of the set and every
 * getter of ctx. Where a request takes 20 ms of CPU at a size n, 2n and 4n may take 2.6 times as much per doubling, or
 * 4n and 8n, where only one step is steeper; what takes less than 4 ms at 16 KB, which is what fits on the wire, is cheap
 * enough whatever its growth.
 */

// Names that no station can read, with the reason.
const NOT_READ = {
  etag: 'of the response',
  'last-modified': 'of the response',
  'set-cookie': 'of the response',
  'content-disposition': 'of a part of a multipart body, which is in the bodies',
  'content-transfer-encoding': 'of a part of a multipart body, which is in the bodies',
  'sec-websocket-extensions': 'by ws, behind the chain',
  'sec-websocket-origin': 'by ws, of versions of the protocol that are refused',
  probe: 'the id with which a store of sessions is probed'
}

const LARGEST_BODY = 32 * 1024

const all = stations(temporary())
const byName = groupBy(all)

/** station → the headers that it reads, each with the base request that reads it */
const read = new Map()

before(async () => {
  for (const station of all) {
    if (!read.has(station.name)) read.set(station.name, new Map())
    const found = read.get(station.name)
    for (const name of await namesRead(station, station.base)) {
      if (!found.has(name)) found.set(name, station.base)
    }
    // What is read only if another header is there
    for (const name of [...found.keys()]) {
      const base = { ...station.base, headers: { ...station.base.headers, [name]: 'x' } }
      for (const other of await namesRead(station, base)) {
        if (!found.has(other)) found.set(other, base)
      }
    }
  }
})

async function namesRead (station, base) {
  const { headers, names } = recorded({ ...base.headers })
  await send(station.listener, { ...base, headers })
  return names
}

function groupBy (list) {
  const groups = new Map()
  for (const one of list) groups.set(one.name, [...groups.get(one.name) ?? [], one])
  return groups
}

/** Fails with every shape of which the cost grows too fast. */
async function check (name, where, run, options) {
  const found = []
  const all = shapes(where)
  for (const { title, make } of all) {
    if (exceptionFor(name, where, title) !== undefined) continue
    const texts = new Map() // made outside of what is measured, but for the first time
    const growth = await superLinear(size => {
      if (!texts.has(size)) texts.set(size, make(size))
      return run(texts.get(size))
    }, options)
    if (growth !== undefined) found.push(`${where} ${title}: ${growth}`)
  }
  assert(all.length > long(3, 50))
  assert.deepEqual(found, [])
}

describe('the headers that are sent', () => {
  it('should be all that lib, middleware and their dependencies read', () => {
    const reached = new Set([...read.values()].flatMap(names => [...names.keys()]))
    const missing = []
    for (const file of [...ownFiles(), ...loadedDependencies()]) {
      for (const name of namesIn(fs.readFileSync(file, 'utf8'))) {
        if (!reached.has(name) && !Object.hasOwn(NOT_READ, name)) missing.push(`${name} in ${file}`)
      }
    }
    assert.deepEqual(missing, [], 'no request of test/helpers/linear/stations.js makes kone read these')
    for (const name of ['range', 'if-range', 'cookie', 'x-forwarded-for', 'accept', 'access-control-request-headers']) {
      assert(reached.has(name), name)
    }
  })

  it('should be found in a source by each way to read one', () => {
    const source = `
      const NAME = 'X-One'
      module.exports = ({ header = 'X-Two' }) => ctx => {
        ctx.get(NAME); ctx.request.get(header); ctx.req.headers['x-three']; headers.four; ctx.header['x-five']
        for (const name of ['x-six', 'x-seven']) ctx.get(name)
        ctx.response.get('X-Sent'); res.headers['x-sent']; map.set('x-none', 1); headers.push('x'); header.length
      }`
    assert.deepEqual([...namesIn(source)].sort(),
      ['four', 'x-five', 'x-one', 'x-seven', 'x-six', 'x-three', 'x-two'])
  })
})

for (const [name, bases] of byName) {
  const isVariant = name.startsWith('ctx ')
  const isRead = !isVariant || name === 'ctx of an HTTP proxy'

  describe(`the cost of ${name}`, () => {
    it('should be linear in every header that it reads', async () => {
      for (const [header, base] of read.get(name)) {
        // The other stations of ctx differ in where they find the host.
        if (isVariant && !/^x-forwarded|^:/.test(header)) continue
        const { listener } = bases[0]
        await check(name, header, text => send(listener, { ...base, headers: { ...base.headers, [header]: text } }))
      }
    })

    // The stations of ctx differ in the proxy alone.
    if (isRead) {
      it('should be linear in the path', async () => {
        const paths = new Set(bases.map(({ base }) => base.url.split('?')[0]))
        for (const path of paths) {
          const { listener, base } = bases.find(({ base }) => base.url.split('?')[0] === path)
          await check(name, 'path', text => send(listener, { ...base, url: path + text }))
        }
      })
    }

    if (!isVariant) {
      it('should be linear in the query', async () => {
        const [{ listener, base }] = bases
        const start = `${base.url}${base.url.includes('?') ? '&' : '?'}`
        await check(name, 'query', text => send(listener, { ...base, url: start + text }))
      })
    }

    const withBody = bases.filter(({ base }) => base.body !== undefined)
    if (withBody.length > 0) {
      it('should be linear in the body', async () => {
        for (const { listener, base, enclose } of withBody) {
          await check(name, 'body', text => {
            const body = Buffer.from(enclose(text))
            return send(listener, { ...base, headers: { ...base.headers, 'content-length': String(body.length) }, body })
          }, { largest: LARGEST_BODY })
        }
      })
    }
  })
}

describe('the cost of what is given a client\'s text', () => {
  for (const [name, call] of Object.entries(given)) {
    it(`should be linear: ${name}`, () => check(name, 'text', text => {
      try {
        return call(text)
      } catch {} // a refusal costs, too
    }))
  }
})
