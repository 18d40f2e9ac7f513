'use strict'

const { lab } = require('../../lib/run/lab')
const { doubt } = require('../../../command/measure/cost')
const { OptionError, workloadsOf } = require('../../lib/run/options')
const { list } = require('../../lib/servers/contenders')
const frontWorkloads = require('../front/workloads')
const { checked } = require('./checked')
const { folders, sides } = require('./revisions')
const { prepare, shapes } = require('./shapes')
const view = require('./view')

/*
 * Two revisions of kone in interleaved rounds: whether a change makes it faster; or, with --koa, the checkout and Koa in
 * all shapes of requests and responses: where it is slower. Every round starts every server anew, for two processes of one
 * program differ by some percent as long as they live.
 */

const FRONT = require.resolve('../front/contenders')
const WHOLE = require.resolve('../mw/contenders')
const SHAPES = require.resolve('./shapes')
const [KONE] = list(FRONT, { only: ['kone'] })
const GROUP = 8 // shapes that are measured before a table is printed

const front = name => {
  const { request = {}, expected } = frontWorkloads.find(({ loads }) => name in loads)
  return { request, expected }
}

// args: those of kone; hasNode: node takes part, and Koa, to see what a quiet minute is; isCore: revisions are compared in it
const WORKLOADS = {
  hello: { ...front('hello'), args: ['hello'], isCore: true, hasNode: true },
  browser: { ...front('browser'), args: ['browser'], isCore: true },
  post: { ...front('post'), args: ['parser'], isCore: true },
  'every middleware': {
    file: WHOLE,
    args: ['plain'],
    request: { headers: front('browser').request.headers },
    expected: { status: 200, type: 'application/json; charset=utf-8', body: '{"greeting":"Hello","items":["a","b","<c>"]}' },
    isCore: true
  },
  ...Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, { file: SHAPES, args: [name], ...shape }]))
}

lab(module, {
  name: 'compare',
  contenders: [{ ...KONE, name: 'kone-before' }, { ...KONE, name: 'kone-after' }, ...list(FRONT, { only: ['node', 'koa'] })],
  options: {
    ref: { value: '<rev>', help: 'compare the checkout with this revision, or a..b (default: $REF, or HEAD~1)' },
    koa: { help: 'compare the checkout with Koa, in all shapes; three rounds are enough' },
    workloads: { value: 'a;b', help: 'only these workloads' },
    seconds: { value: 'N', help: 'of each round, a whole number (default 2)' }
  },
  view,

  async measure (lab) {
    const { koa, quick } = lab.options
    const workloads = chosen(lab.options)
    const seconds = secondsOf(lab.options)
    const generator = lab.generator()
    lab.generators(['split', 'h2'])
    const folder = lab.folder()
    prepare(folder)
    const roots = koa ? {} : revisionsOf(lab)
    const names = koa ? ['kone-after', 'koa'] : Object.keys(roots)
    const { derived } = lab.result
    Object.assign(derived, { workloads: [], isBesideKoa: koa }, lab.options.workloads && { only: Object.keys(workloads) })

    const crowd = Object.values(workloads).some(({ idle }) => idle) && lab.crowd(2500)
    const first = koa ? {} : null // responses by workload, which the others must resemble; revisions may differ
    const all = Object.keys(workloads)
    const each = koa ? GROUP : all.length
    for (let i = 0; i < all.length; i += each) {
      const group = all.slice(i, i + each)
      const cells = group.flatMap(workload => cellsOf(workload, workloads[workload]))
      const minutes = Math.ceil(cells.length * lab.options.rounds * (seconds + 2) / 60)
      console.error(`workloads ${i + 1} to ${i + group.length} of ${all.length}: ${cells.length * lab.options.rounds} measurements, about ${minutes} minutes`)
      derived.workloads.push(...group)
      await lab.rounds(cells, { visit: cell => visit(lab, cell, { crowd, first, warm: quick ? 1 : seconds }), doubt })
      lab.print({ isBrief: true })
    }

    function cellsOf (workload, how) {
      return lab.contenders.filter(({ name }) => names.includes(name) || (how.hasNode && !name.startsWith('kone')))
        .map(one => contenderOf(one, how, roots, folder))
        .map(contender => {
          const load = { generator, connections: 50, ...how.request, ...how.load, seconds }
          return { workload, how, load, server: { name: contender.name }, contender }
        })
    }
  }
})

function chosen ({ koa, workloads }) {
  const all = Object.keys(WORKLOADS)
  const names = workloadsOf('compare', workloads, all, all.filter(name => koa || WORKLOADS[name].isCore))
  return Object.fromEntries(names.map(name => [name, WORKLOADS[name]]))
}

function secondsOf ({ quick, seconds }) {
  const number = Number(seconds ?? (quick ? 1 : 2))
  if (!(Number.isInteger(number) && number > 0)) throw new OptionError(`compare: --seconds must be a whole number above 0, not ${seconds}`)
  return number
}

function revisionsOf (lab) {
  const revisions = folders()
  lab.atEnd(revisions.remove)
  const { before, after } = sides(lab.options.ref ?? (process.env.REF || 'HEAD~1'))
  const roots = { 'kone-before': revisions.add('before', before), 'kone-after': revisions.add('after', after) }
  Object.assign(lab.result.derived, {
    before,
    after: after ?? 'the checkout',
    otherDependencies: roots['kone-before'].dependencies !== roots['kone-after'].dependencies
  })
  return roots
}

function contenderOf (one, { file = one.file, args, idle }, roots, folder) {
  const { root, version } = roots[one.name] ?? {}
  const env = { ...root && { KONE_ROOT: root }, ...idle && { KEEP_ALIVE: '600000' } }
  return { ...one, file, args: file === SHAPES ? [...args, folder] : args, env, ...root && { version: () => version } }
}

// Who does not start has been named by the lab.
async function visit (lab, { workload, how, load, contender }, { crowd, first, warm }) {
  const { request = {}, expected, idle } = how
  const check = async server => {
    const response = await checked(server, how, first?.[workload])
    if (first) first[workload] ??= response
    return response
  }
  const [server] = await lab.start([contender], { workload, request, expected, check, reference: 'kone-before' })
  if (!server) throw new Error('it did not start, or responded with something else')
  const sample = async () => {
    await lab.warm({ server, load }, warm)
    return lab.sample({ server, load })
  }
  try {
    return await (idle ? crowd.hold({ port: server.port, connections: idle }, sample) : sample())
  } finally {
    await server.stop()
  }
}
