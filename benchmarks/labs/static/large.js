'use strict'

const fs = require('node:fs')
const path = require('node:path')
const cpu = require('../../../command/measure/cpu')
const { doubt, measure } = require('../../../command/measure/cost')
const { verifyAll } = require('../../lib/run/verify')
const { questionOf } = require('./plan')

/*
 * Large files, to a few connections: how many bytes come, what a megabyte costs, and how much memory is resident while
 * they are sent. The part has a root of its own, because net and node keep every file of the other in memory.
 */

const MB = 1024 * 1024
const LINE = 'A line of a large file, which is only worth its bytes: nobody looks into it.\n'

/** What is sent: file, size, and to how many connections. */
const LARGE = exports.LARGE = [
  { workload: '1 MB, 16 connections', path: '/1m.html', bytes: MB, connections: 16 },
  { workload: '100 MB, 4 connections', path: '/100m.html', bytes: 100 * MB, connections: 4 }
]

/** A file's content. */
const contentOf = exports.contentOf = bytes => Buffer.alloc(bytes, LINE)

/** Measure all of them. */
exports.large = async function (lab, contendersOf) {
  const root = lab.folder()
  fs.chmodSync(root, 0o755) // nginx may read as somebody else
  for (const { path: name, bytes } of LARGE) fs.writeFileSync(path.join(root, name), contentOf(bytes))

  const questions = LARGE.map(({ path, bytes }) => questionOf(path, contentOf(bytes).toString()))
  const check = ({ port }) => verifyAll(port, questions)
  const servers = await lab.start(contendersOf(root), { workload: 'large files', check, reference: 'node-disk' })
  const name = lab.generator()
  const generator = lab.generators([name])[name]
  for (const { workload, path, connections } of LARGE) {
    const load = { generator: name, path, connections, seconds: 2 }
    const cells = servers.map(server => ({ workload, server, load }))
    await lab.rounds(cells, { visit: cell => transfer(cell, generator), doubt, record })
  }
  await lab.stop(servers)
  fs.rmSync(root, { recursive: true })

  function record (cells) {
    lab.record(cells)
    const good = cells.filter(({ rejected }) => !rejected)
    lab.recordFigures(good, [['bandwidth', 'MB/s', sample => sample.bandwidth], ['perMB', 'µs/MB', sample => sample.perMB]])
    lab.recordFigures(good.filter(({ samples }) => samples.every(({ peak }) => peak)), [['memory', 'MB', ({ peak }) => peak / 1e6]])
  }
}

/** A round: the sample of `measure`, and the most memory that was resident during it. */
const transfer = exports.transfer = async function (cell, generator) {
  let peak = null
  const look = () => { peak = Math.max(peak, cpu.resident(cell.server.pid)) || null }
  const timer = setInterval(look, 20)
  try {
    const sample = await measure(cell, generator)
    look()
    const megabytes = sample.bytes / 1e6 // also of responses that the end cut off: the server sent them, too
    return {
      ...sample,
      peak,
      bandwidth: megabytes / sample.seconds,
      perMB: sample.cpu * sample.requests / megabytes
    }
  } finally {
    clearInterval(timer)
  }
}
