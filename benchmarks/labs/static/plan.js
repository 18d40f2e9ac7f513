'use strict'

const { processesFor } = require('../../lib/run/connections')

/** The files: the report's 13 bytes, and what grows from there. */
const SIZES = exports.SIZES = [
  { name: '13 B', path: '/13.html', bytes: 13 },
  { name: '100 B', path: '/100.html', bytes: 100 },
  { name: '10 KB', path: '/10k.html', bytes: 10 * 1024 },
  { name: '1 MB', path: '/1m.html', bytes: 1024 * 1024 }
]

/**
 * A page of exactly so many bytes.
 *
 *    bodyOf(13) // 'Hello, World\n'
 */
exports.bodyOf = bytes => 'Hello, World\n'.repeat(Math.ceil(bytes / 13)).slice(0, bytes)

/** What a file is verified with. The charset is not required: the servers of EXTRA are as they are. */
exports.questionOf = (path, content) =>
  ({ request: { path }, expected: { status: 200, type: /^text\/html(;charset=utf-8)?$/, body: body => body === content } })

// A run ends within an hour, a first look within four minutes, because not everybody sends the sizes in between, and over
// thousands of connections only the report's size comes from all.
const FEW = ['net', 'kone', 'node', 'sirv', 'nginx']
const MANY = ['13 B', '10 KB'] // all send them at 64 connections; only they go over 6,000: a turn of 1 MB would be 6 GB

/** The workloads of a run, in the order of the report. */
exports.plan = function ({ quick }) {
  const [small, ...larger] = SIZES
  const seconds = quick ? 1 : 2
  const main = ({ name }) => name === '10 KB'
  const at64 = ({ name, path }) => ({
    workload: `${name}, 64 connections`,
    path,
    load: { connections: 64, seconds },
    only: MANY.includes(name) ? undefined : FEW
  })
  const at6000 = ({ name, path }) => ({
    workload: `${name}, 6,000 connections`,
    path,
    load: { connections: 6000, seconds, settle: 1.5 },
    only: quick || name !== small.name ? FEW : undefined
  })
  const pipelined = {
    workload: `${small.name}, pipelined 16`,
    path: small.path,
    load: { connections: 64, pipeline: 16, seconds }
  }
  return [
    [at64(small), at6000(small), pipelined],
    ...[...larger].sort((a, b) => main(b) - main(a))
      .map(size => [at64(size), ...!quick && MANY.includes(size.name) ? [at6000(size)] : []])
  ]
}

/** Processes of a server with very many connections, unless it needs more. */
const WORKERS = exports.WORKERS = 4

/**
 * How many processes a server needs for so many connections. What opens the file of a response anew needs a descriptor
 * for that, too.
 */
exports.workersFor = ({ descriptorsEach = 1 }, connections, descriptors) =>
  Math.max(WORKERS, processesFor(connections * descriptorsEach, descriptors))
