'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { verifyAll } = require('../../lib/run/verify')
const { list } = require('../../lib/servers/contenders')

/*
 * Memory after the start and over a million requests of a mixture: sums, JSON, files and gzip.
 */

const LOOKS = 10
const FILES = { 'page.html': ['text/html; charset=utf-8', 2048], 'style.css': ['text/css; charset=utf-8', 16_384] }

/** 50 items with a total each, computed for every request. */
const items = exports.items = () =>
  ({ items: FIFTY.map(item => ({ ...item, total: item.price * item.quantity })), count: FIFTY.length })

const FIFTY = Array.from({ length: 50 }, (_, i) => ({
  id: i + 1,
  name: `item ${i + 1}`,
  price: 5 + i * 3,
  quantity: 1 + i % 7,
  tags: ['web', 'framework', i % 2 ? 'odd' : 'even'],
  rating: { score: 40 + i, count: 100 + i }
}))

/** 100 KB of text, to be compressed. */
const TEXT = exports.TEXT = Array.from({ length: 1000 }, (_, i) => `Line ${i} of a text that compresses as prose does, ${(i * 7919) % 10_007} words and ${(i * 104_729) % 9973} more, to the end of this line.`)
  .join('\n').padEnd(102_400, '\n').slice(0, 102_400)

const content = name => `${name}: a file of ${FILES[name][1]} bytes.\n`.repeat(FILES[name][1] / 20).slice(0, FILES[name][1])

const REQUESTS = {
  sum: { path: '/baseline?a=1&b=2', expected: { type: 'text/plain; charset=utf-8', body: '3' } },
  json: { path: '/json', expected: { type: /^application\/json(;charset=utf-8)?$/, body: JSON.stringify(items()) } },
  gzip: { path: '/gzip', expected: { type: 'text/plain; charset=utf-8', body: TEXT, headers: { 'content-encoding': 'gzip', vary: /accept-encoding/i } } },
  ...Object.fromEntries(Object.entries(FILES).map(([name, [type]]) => [name, { path: `/${name}`, expected: { type, body: content(name) } }]))
}
const MIXTURE = ['sum', 'json', 'page.html', 'sum', 'json', 'gzip', 'sum', 'style.css', 'json', 'sum']
const headers = { 'accept-encoding': 'gzip' }

const check = ({ port }) => verifyAll(port, Object.values(REQUESTS).map(({ path, expected }) =>
  ({ request: { path, headers }, expected: { status: 200, ...expected } })))

/**
 * Resident memory of these servers of `mixture.js` after their start, in rounds, and then after each tenth of a number of
 * requests, without a forced garbage collection.
 *
 *    await mixed(lab, ['kone', 'koa'])
 *
 * @param {Session} lab
 * @param {string[]} only
 * @param {{ each?: number, looks?: number }} [how] each: requests between two looks, at least
 */
exports.mixed = async function (lab, only, { looks = LOOKS, each = lab.options.quick ? 10_000 : 100_000 } = {}) {
  const workload = 'mixed'
  const folder = lab.folder()
  for (const name of Object.keys(FILES)) fs.writeFileSync(path.join(folder, name), content(name))
  lab.result.derived.requestsPerRound = each
  const generator = lab.generators()[lab.generator()]
  const load = { paths: MIXTURE.map(name => REQUESTS[name].path), headers, connections: 50, seconds: 1 }
  const contenders = list(require.resolve('./mixture'), { only }).map(one => ({ ...one, args: [folder] }))
  const servers = await lab.start(contenders, { workload, check })
  const started = servers.map(server => ({ workload, server }))
  await lab.rounds(started, {
    async visit ({ server }) {
      await server.restart()
      return { start: await server.resident() }
    },
    record: cells => lab.recordFigures(cells, [['start', 'bytes', ({ start }) => start]])
  })
  await lab.rounds(started.filter(({ rejected }) => !rejected).map(({ server }) => ({ workload, server })), {
    count: looks,
    tries: 1, // a round that failed has changed the memory
    async visit ({ server }) {
      for (let sent = 0; sent < each;) {
        const { requests, errors } = await generator.run({ ...load, port: server.port })
        if (errors) throw new Error(`${errors} errors`)
        sent += requests
      }
      return { memory: await server.resident() }
    },
    record: cells => lab.recordFigures(cells, [['memory', 'bytes', ({ memory }) => memory]])
  })
  await lab.stop(servers)
}
