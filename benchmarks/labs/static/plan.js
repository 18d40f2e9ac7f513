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

// Not everybody sends the sizes in between, and over thousands of connections only the report's size comes from all: the run
// would take hours. Over 6,000 connections a turn of 1 MB would be 6 GB.
const FEW = ['net', 'kone', 'node', 'sirv', 'nginx']

/** The workloads of a run, part by part. */
exports.plan = function ({ quick }) {
  const seconds = quick ? 1 : 2
  const workload = ({ name, path }, kind, load, only) => ({ workload: `${name}, ${kind}`, path, load: { ...load, seconds }, only })
  const at64 = (size, only) => workload(size, '64 connections', { connections: 64 }, only)
  const at6000 = (size, only) => workload(size, '6,000 connections', { connections: 6000, settle: 1.5 }, only)
  const [small, hundred, page, large] = SIZES
  return [
    [at64(small), at6000(small, quick ? FEW : undefined), workload(small, 'pipelined 16', { connections: 64, pipeline: 16 })],
    [at64(page), ...quick ? [] : [at6000(page, FEW)]],
    [at64(hundred, FEW)],
    [at64(large, FEW)]
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
