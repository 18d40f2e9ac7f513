'use strict'

const { lab } = require('../../lib/run/lab')
const { doubt } = require('../../lib/run/measure')
const { list } = require('../../lib/servers/contenders')
const frontWorkloads = require('../front/workloads')
const { folders, sides } = require('./revisions')
const view = require('./view')

/*
 * Two revisions of kone in interleaved rounds: whether a change makes it faster. Every round starts every server
 * anew, for two processes of one program differ by some percent as long as they live.
 */

const FRONT = require.resolve('../front/contenders')
const WHOLE = require.resolve('../mw/contenders')
const [KONE] = list(FRONT, { only: ['kone'] })

const front = name => {
  const { request = {}, expected } = frontWorkloads.find(({ loads }) => name in loads)
  return { request, expected }
}

// args: those of kone; node and koa take part in hello, to see what a quiet minute is
const WORKLOADS = {
  hello: { ...front('hello'), args: ['hello'], others: true },
  browser: { ...front('browser'), args: ['browser'] },
  post: { ...front('post'), args: ['parser'] },
  'every middleware': {
    file: WHOLE,
    args: ['plain'],
    request: { headers: front('browser').request.headers },
    expected: {
      status: 200,
      type: 'application/json; charset=utf-8',
      body: JSON.stringify({ greeting: 'Hello', items: ['a', 'b', '<c>'] })
    }
  }
}

lab(module, {
  name: 'compare',
  contenders: [{ ...KONE, name: 'kone-before' }, { ...KONE, name: 'kone-after' }, ...list(FRONT, { only: ['node', 'koa'] })],
  options: {
    ref: { value: '<rev>', help: 'compare the checkout with this revision, or a..b (default: $REF, or HEAD~1)' }
  },
  probe: contender => ({ contender: { ...contender, args: ['hello'] }, ...front('hello') }),
  view,

  async measure (lab) {
    const generator = lab.generator()
    const revisions = folders()
    lab.atEnd(revisions.remove)
    const { before, after } = sides(lab.options.ref ?? (process.env.REF || 'HEAD~1'))
    const roots = { 'kone-before': revisions.add('before', before), 'kone-after': revisions.add('after', after) }
    Object.assign(lab.result.derived, {
      before,
      after: after ?? 'the checkout',
      workloads: Object.keys(WORKLOADS),
      otherDependencies: roots['kone-before'].dependencies !== roots['kone-after'].dependencies
    })

    const seconds = lab.options.quick ? 1 : 2
    const load = { generator, connections: 50, seconds }
    const cells = Object.entries(WORKLOADS).flatMap(([workload, how]) => lab.contenders
      .filter(({ name }) => how.others || roots[name])
      .map(one => contenderOf(one, how, roots))
      .map(contender => ({ workload, load: { ...how.request, ...load }, server: { name: contender.name }, contender })))
    await lab.rounds(cells, { visit: cell => visit(lab, cell), doubt })
    lab.record(cells)
  }
})

function contenderOf (one, { file = one.file, args }, roots) {
  const { root, version } = roots[one.name] ?? {}
  return { ...one, file, args, ...root && { env: { KONE_ROOT: root }, version: () => version } }
}

// Who does not start has been named by the lab.
async function visit (lab, { workload, load, contender }) {
  const { request, expected } = WORKLOADS[workload]
  const [server] = await lab.start([contender], { workload, request, expected, reference: 'kone-before' })
  if (!server) throw new Error('it did not start, or responded with something else')
  try {
    await lab.warm({ server, load }, load.seconds)
    return await lab.sample({ server, load })
  } finally {
    await server.stop()
  }
}
