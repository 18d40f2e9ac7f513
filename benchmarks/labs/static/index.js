'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { descriptors, openingsOf } = require('../../lib/run/connections')
const { lab } = require('../../lib/run/lab')
const { cost } = require('../../../command/measure/cost')
const { repeat } = require('../../../command/measure/rounds')
const { disbelief } = require('../../../command/measure/stats')
const { verifyAll } = require('../../lib/run/verify')
const { list } = require('../../lib/servers/contenders')
const { extra } = require('../../lib/servers/program')
const { large } = require('./large')
const { SIZES, WORKERS, bodyOf, plan, questionOf, workersFor } = require('./plan')
const view = require('./view')

const { CROWDED } = view
const question = ({ path, bytes }) => questionOf(path, bodyOf(bytes))

const QUICK_LARGE = ['kone', 'node-disk', 'koa-static', 'nginx'] // who sends large files in a first look
const CLUSTERS = ['kone', 'kone-disk', 'node', 'sirv', 'koa-static', 'fastify-static']
const MULTIPLE = ['nginx', 'lighttpd'] // that start as many processes as their configuration says

lab(module, {
  name: 'static',
  contenders: () => [...list(require.resolve('./contenders')), ...extra(process.env.EXTRA)],
  options: { all: { help: 'also 60,000 connections, by servers of several processes' } },
  view,

  async measure (lab) {
    const root = lab.folder()
    writeFiles(root)

    const generator = lab.generator()
    // net and node hold every file in memory, node-disk is their counterpart for those that are too large
    const small = ({ name }) => name !== 'node-disk'
    const big = ({ name }) => lab.options.quick ? QUICK_LARGE.includes(name) : !['net', 'node'].includes(name)
    const extras = new Set(lab.contenders.filter(({ extra }) => extra).map(({ name }) => name)) // of EXTRA: in every workload
    // HPHS keeps connections that are gone; of others of EXTRA nothing is known
    const leaking = new Set(lab.contenders.filter(({ extra, leaks }) => extra || leaks).map(({ name }) => name))
    const check = ({ port }) => verifyAll(port, SIZES.map(question))
    const servers = await lab.start(lab.contenders.filter(small).map(one => serving(one, root)), { workload: 'every file', check, reference: 'node' })
    await lab.inTime([...plan(lab.options).map(group => {
      const cells = group.flatMap(({ workload, path, load, only }) => servers
        .filter(({ name }) => !only || only.includes(name) || extras.has(name))
        .filter(({ name }) => !(name === 'net' && load.pipeline)) // it would respond once for sixteen
        .map(server => ({
          workload,
          server,
          load: { generator, path, ...load },
          isRestarted: leaking.has(server.name) && load.settle > 0
        })))
      return { name: group.map(({ workload }) => workload).join(', '), size: cells.length, act: () => lab.measure(cells) }
    }), {
      name: 'large files',
      size: 4 * lab.contenders.filter(big).length, // two files; of a first look, seconds twice as many
      act: () => large(lab, root => lab.contenders.filter(big).map(one => serving(one, root)))
    }])
    await lab.stop(servers)
    if (lab.options.all) await crowded(lab, root)
  }
})

function writeFiles (root) {
  fs.chmodSync(root, 0o755) // nginx may read as another user
  for (const { path: name, bytes } of SIZES) fs.writeFileSync(path.join(root, name), bodyOf(bytes))
}

const serving = (contender, root, workers = 1) => ({ ...contender, args: [root], given: { root, workers } })

// As many connections as the report had. A process may not hold them, so servers are clusters of as many as they need.
async function crowded (lab, root) {
  const connections = 60_000
  const limit = descriptors()
  const several = []
  for (const one of lab.contenders.filter(({ name }) => name !== 'node-disk')) {
    const workers = workersFor(one, connections, limit)
    if (CLUSTERS.includes(one.name)) several.push({ ...serving(one, root), workers, env: { KEEP_ALIVE: '600000' } })
    else if (MULTIPLE.includes(one.name)) several.push(serving(one, root, workers))
    else {
      lab.reject(CROWDED, one.name, 'it is one process here, which may not hold so many connections')
      continue
    }
    if (workers > WORKERS) {
      const why = `${one.descriptorsEach ?? 1} descriptors per connection, a process may open ${limit}`
      lab.result.derived.remarks.push({ workload: CROWDED, contender: one.name, remark: `by ${workers} processes: ${why}` })
    }
  }
  const [{ path: name }] = SIZES
  const servers = await lab.start(several, { workload: CROWDED, ...question(SIZES[0]), reference: 'node' })
  const { openings, each } = openingsOf(connections, lab.options.rounds)
  const load = { generator: 'crowd', connections, seconds: 3 }
  const cells = servers.map(server => ({ workload: CROWDED, server, load }))
  const opened = `opened ${openings} times, with ${each} rounds each`
  for (const { name } of servers) lab.result.derived.remarks.push({ workload: CROWDED, contender: name, remark: opened })
  const crowd = lab.crowd(connections)
  await lab.rounds(cells, {
    count: openings,
    doubt: ({ load }, sample) => disbelief({ ...load, ...sample }),
    visit: ({ server, load: { seconds } }) => crowd.hold({ port: server.port, connections, path: name }, () =>
      repeat(each, () => cost(server, () => crowd.closed({ seconds }), { untilQuiet: true })))
  })
  crowd.stop()
  await lab.stop(servers)
}
