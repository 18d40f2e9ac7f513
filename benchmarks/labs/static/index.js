'use strict'

const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const bar = require('../../lib/run/progress')
const Crowd = require('../../lib/load/crowd')
const { loaded } = require('../../lib/load/crowd-figures')
const { run } = require('../../lib/run/lab')
const { extra } = require('../../lib/servers/program')
const { version, koneVersion } = require('../../lib/servers/versions')
const { addRatios, aims, cpu, finish, ranking } = require('../../lib/report/report')
const { disbelief, pairedRatio, shuffle } = require('../../lib/run/stats')
const { verify } = require('../../lib/run/verify')
const { SIZES, bodyOf, growth, plan } = require('./plan')

/*
 * Files: kone, from memory and from the disk, beside the servers that are made for it, the static middleware of
 * Node, and the floors: node:http answering from a buffer, a raw socket that writes fixed bytes.
 */

const folder = path.join(__dirname, 'contenders')
const file = name => path.join(folder, `${name}.js`)
const program = name => {
  const one = require(file(name))
  return { name, program: one, version: one.version }
}

const contenders = [
  { name: 'net', file: file('net'), version: node => node.slice(1), about: 'writes fixed bytes, parses nothing' },
  { name: 'node', file: file('node'), version: node => node.slice(1), about: 'node:http answering from a buffer' },
  { name: 'kone', file: file('kone'), mode: 'memory', version: koneVersion, about: 'from memory' },
  { name: 'kone-disk', file: file('kone'), mode: 'disk', version: koneVersion, about: 'opens and reads the file for every answer' },
  { name: 'sirv', file: file('sirv'), version: version('sirv') },
  { name: 'koa-static', file: file('koa'), version: version('koa-static') },
  { name: 'fastify-static', file: file('fastify'), version: version('@fastify/static') },
  ...['nginx', 'h2o', 'lighttpd', 'go'].map(program),
  ...extra(process.env.EXTRA)
]

const SIXTY = '13 B, 60,000 connections'
const REFERENCES = ['node', 'sirv', 'koa-static', 'nginx']

const own = { all: { help: 'also 60,000 connections, by servers of four processes' } }

run('static', { contenders, argv: process.argv.slice(2), own }, async lab => {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-static-'))
  const remove = () => fs.rmSync(root, { recursive: true, force: true })
  lab.atEnd(remove)
  fs.chmodSync(root, 0o755) // nginx may read as somebody else
  for (const { path: name, bytes } of SIZES) fs.writeFileSync(path.join(root, name), bodyOf(bytes))

  const generator = lab.generators(['wrk']).wrk ? 'wrk' : lab.generators(['autocannon']) && 'autocannon'
  const servers = await up(lab, root)
  const groups = plan(lab.options)
  await lab.inTime(groups.map(workloads => {
    const cells = workloads.flatMap(({ workload, path, load, only }) => servers
      .filter(({ name, paths }) => paths.has(path) && (!only || only.includes(name) || isExtra(name)))
      .filter(({ name }) => !(name === 'net' && load.pipeline)) // it would answer once for sixteen
      .map(server => ({ workload, server, load: { generator, path, ...load } })))
    return { name: workloads.map(({ workload }) => workload).join(', '), size: cells.length, act: () => lab.measure(cells) }
  }))
  await Promise.all(servers.map(server => server.stop()))
  if (lab.options.all) await sixty(lab, root)

  addRatios(lab.result, REFERENCES)
  finish(lab, {
    title: 'static: files, kone beside the servers that are made for them',
    sections: [
      reached(lab),
      ...groups.flat().map(({ workload, heading, path }) => ranking(lab.result, workload, {
        heading: `${generator}: ${heading}`,
        references: REFERENCES.slice(0, 2),
        question: path
      })),
      ranking(lab.result, SIXTY, { heading: `${SIXTY}, by four processes`, references: REFERENCES.slice(0, 1) })
    ]
  })
})

// All contenders, each verified at every file before a clock starts.
async function up (lab, root) {
  const [first, ...others] = SIZES
  const servers = await lab.start(lab.contenders.map(one => ({
    ...one,
    args: [root, one.mode].filter(Boolean),
    given: { root }
  })), { workload: first.path, ...question(first), reference: 'node' })

  for (const server of servers) {
    server.paths = new Set([first.path])
    for (const size of others) {
      try {
        const { bytes } = await verify(server.port, ...Object.values(question(size)))
        lab.result.derived.answers.push({ workload: size.path, contender: server.name, bytes, headers: [] })
        server.paths.add(size.path)
      } catch (err) {
        lab.reject(size.path, server.name, err.message)
      }
    }
  }
  return servers
}

// As many as the report had; one process may not hold them, neither here nor there.
async function sixty (lab, root) {
  const connections = 60_000
  const WORKERS = 4
  const several = lab.contenders.map(one => {
    if (['nginx', 'lighttpd'].includes(one.name)) return { ...one, given: { root, workers: WORKERS } }
    if (!['kone', 'node', 'sirv'].includes(one.name)) return null
    const args = [String(WORKERS), one.file, root, one.mode].filter(Boolean)
    return { ...one, file: path.join(__dirname, '../connections/contenders/cluster.js'), args, env: { KEEP_ALIVE: '600000' } }
  }).filter(Boolean)
  const [{ path: name }] = SIZES
  const servers = await lab.start(several, { workload: SIXTY, ...question(SIZES[0]), reference: 'node' })
  const load = { generator: 'crowd', connections }
  const cells = servers.map(server => ({ workload: SIXTY, server, load, samples: [], discarded: [], rejected: null }))
  const crowd = new Crowd({ connections, pin: lab.pins?.load })
  const forget = lab.atEnd(() => crowd.stop())
  const progress = bar(lab.options.rounds * cells.length)
  for (let i = 1; i <= lab.options.rounds; i++) {
    for (const cell of shuffle([...cells])) {
      progress.tick(`round ${i} of ${lab.options.rounds}: ${cell.server.name}, ${connections} connections`)
      if (!cell.rejected) await crowded(crowd, cell, name, i)
    }
  }
  progress.end()
  crowd.stop()
  forget()
  lab.keep(cells)
  await Promise.all(servers.map(server => server.stop()))
}

async function crowded (crowd, cell, path, round) {
  const { server, load: { connections } } = cell
  let reason
  try {
    await crowd.open({ port: server.port, connections, path })
    const { errors } = await crowd.greet()
    const sample = await loaded(server, () => crowd.closed({ seconds: 5 }))
    reason = errors ? `${errors} errors in the first answers` : disbelief({ connections, ...sample })
    if (!reason) cell.samples.push(sample)
  } catch (err) {
    reason = err.message
  }
  await crowd.reset()
  if (!reason) return
  cell.discarded.push({ round, reason })
  cell.rejected = reason
}

// The charset is asked of nobody, for EXTRA's servers are as they are.
function question ({ path, bytes }) {
  return {
    request: { path },
    expected: { status: 200, type: /^text\/html(;charset=utf-8)?$/, body: bodyOf(bytes) }
  }
}

const isExtra = name => contenders.some(one => one.name === name && one.extra)

function reached ({ result, nodeVersion }) {
  const latest = parseInt(nodeVersion.slice(1)) >= 26
  const rounds = (workload, contender) => cpu(result, workload, contender)?.rounds ?? []
  const over = (workload, to) => pairedRatio(rounds(workload, 'kone'), rounds(workload, to))
  const small = '13 B, 64 connections'
  const many = '13 B, 6,000 connections'
  return aims(result, {
    heading: `targets on Node ${latest ? 26 : 20}, server CPU per request, kone from memory, 13 B`,
    targets: [
      { what: '16 deep pipelined ÷ node:http from a buffer', target: 0.25, spread: over('13 B, pipelined 16', 'node') },
      { what: '64 connections ÷ node:http from a buffer', target: latest ? 0.80 : 0.65, spread: over(small, 'node') },
      { what: '64 connections ÷ sirv', target: 0.25, spread: over(small, 'sirv') },
      { what: '64 connections ÷ koa-static', target: 0.15, spread: over(small, 'koa-static') },
      {
        what: 'growth from 64 to 6,000 connections ÷ that of raw net',
        target: 1.15,
        spread: growth(name => [rounds(small, name), rounds(many, name)], 'kone', 'net')
      },
      { what: 'growth of kone, 64 to 6,000', spread: pairedRatio(rounds(many, 'kone'), rounds(small, 'kone')) },
      { what: 'growth of raw net, 64 to 6,000', spread: pairedRatio(rounds(many, 'net'), rounds(small, 'net')) }
    ]
  })
}
