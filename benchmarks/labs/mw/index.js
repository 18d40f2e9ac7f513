'use strict'

const { lab } = require('../../lib/run/lab')
const { isPrecise } = require('../../../command/measure/cost')
const { list } = require('../../lib/servers/contenders')
const { ALONE, WHOLE } = require('./workloads')

lab(module, {
  name: 'mw',
  contenders: list(require.resolve('./contenders')),
  view: require('./view'),

  async measure (lab) {
    const { quick } = lab.options
    const load = { generator: lab.generator(['autocannon']), connections: 100, seconds: quick ? 1 : 3 }
    await lab.inTime([
      ...Object.keys(WHOLE).map(kind => ({ name: kind, size: lab.contenders.length, act: () => whole(lab, kind, load) })),
      { name: 'each middleware alone', seconds: 20, act: () => separately(lab, { generator: lab.generator(), connections: 50, seconds: quick ? 1 : 2 }) }
    ])
  }
})

function whole (lab, kind, load) {
  const contenders = lab.contenders.filter(({ name }) => name !== 'kone-packages').map(one => ({ ...one, args: [kind] }))
  return lab.group(contenders, { workload: kind, ...WHOLE[kind], reference: 'koa', floor: {} }, { [kind]: load }, { quickWarm: 1.5 })
}

// One after the other, for a server that has rested is slower: of visits in succession kone ÷ Koa differs by 4 %, of those
// that have half a minute between them by 8. Of a first look, as many as there is time for.
async function separately (lab, load) {
  const contenders = lab.contenders.filter(({ name }) => !name.endsWith('-bluebird'))
  const all = Object.entries(ALONE)
  let longest = 0 // ms
  for (const [i, [workload, { hasTwin, ...question }]] of all.entries()) {
    if (lab.timeLeft < longest) {
      lab.skip(workload)
      continue
    }
    const start = performance.now()
    const taking = contenders.filter(({ name }) => name === 'kone' || hasTwin).map(one => ({ ...one, args: [workload] }))
    await lab.group(taking, { workload, ...question, reference: 'koa' }, { [workload]: load },
      { fullWarm: 1, isEnough: isPrecise, which: `${i + 1} of ${all.length}, ` })
    longest = Math.max(longest, performance.now() - start)
  }
}
