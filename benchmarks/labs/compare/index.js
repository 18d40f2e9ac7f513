'use strict'

const { lab } = require('../../lib/run/lab')
const { doubt } = require('../../lib/run/measure')
const { list } = require('../../lib/servers/contenders')
const { folders, sides } = require('./revisions')
const view = require('./view')

/*
 * Two revisions of kone in interleaved rounds: whether a change makes it faster. Every round starts every server
 * anew, for two processes of one program differ by some percent as long as they live.
 */

const FRONT = require.resolve('../front/contenders')
const WHOLE = require.resolve('../mw/contenders')
const [KONE] = list(FRONT, { only: ['kone'] })

const hello = { status: 200, type: 'text/plain; charset=utf-8', body: 'Hello World' }
const json = body => ({ status: 200, type: 'application/json; charset=utf-8', body })
const BODY = JSON.stringify({ name: 'Ada', note: 'two hundred bytes of JSON'.padEnd(170, '.') })
const HEADERS = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'accept-encoding': 'gzip, deflate, br, zstd',
  'accept-language': 'en-GB,en;q=0.9,de;q=0.8',
  cookie: 'theme=dark; sid=0123456789abcdef0123456789abcdef; seen=12'
}

// args: those of kone; node and koa take part in hello, to see what a quiet minute is
const WORKLOADS = {
  hello: { args: ['hello'], others: true, expected: hello },
  browser: { args: ['browser'], request: { path: '/articles?page=3', headers: HEADERS }, expected: hello },
  post: {
    args: ['parser'],
    request: { method: 'POST', headers: { 'content-type': 'application/json' }, body: BODY },
    expected: json(BODY)
  },
  'every middleware': {
    file: WHOLE,
    args: ['plain'],
    request: { headers: HEADERS },
    expected: json(JSON.stringify({ greeting: 'Hello', items: ['a', 'b', '<c>'] }))
  }
}

lab(module, {
  name: 'compare',
  contenders: [{ ...KONE, name: 'kone-before' }, { ...KONE, name: 'kone-after' }, ...list(FRONT, { only: ['node', 'koa'] })],
  options: {
    ref: { value: '<rev>', help: 'compare the checkout with this revision, or a..b (default: $REF, or HEAD~1)' }
  },
  probe: contender => ({ contender: { ...contender, args: ['hello'] }, expected: hello }),
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
