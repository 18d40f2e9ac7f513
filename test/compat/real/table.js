'use strict'

const { quietness } = require('../../../benchmarks/lib/run/complete')
const { median, pairedRatio } = require('../../../benchmarks/lib/run/stats')

const NAMES = ['app', 'with', 'koa', 'responses', 'koa, µs', 'kone, µs', 'kone / koa']
const NONE = '–'

/**
 * @param {object[]} results as results.js reads them
 * @return {string} Markdown
 */
const table = exports.table = function (results) {
  return [NAMES, ['---', '---', '---', '---', '--:', '--:', '--:'], ...results.map(cells)]
    .map(line => `| ${line.join(' | ')} |`)
    .join('\n')
}

function cells (result) {
  const { title, packages = [NONE], koa = NONE } = result
  const reason = unmeasured(result)
  return [title, packages.join(', '), koa, compared(result), ...reason ? [NONE, NONE, reason.replaceAll('|', '/')] : figures(result)]
}

function compared ({ name, responses, same, differs, error }) {
  if (error) return `fails: ${error.replaceAll('|', '/')}`
  if (responses === undefined) return `not compared yet: \`make compat ARGS=${name}\``
  return same ? `${responses} same` : `number ${differs + 1} differs`
}

// Why a result has no figures; null where it has them.
function unmeasured ({ name, responses, same, error, cost }) {
  if (error) return 'not measured: it fails'
  if (responses !== undefined && !same) return 'not measured: the responses differ'
  if (!cost) return `not measured yet: \`make compat ARGS=${name}\``
  const [rejected] = cost.rejected
  return rejected ? `not measured: ${rejected.contender}, ${rejected.reason}` : null
}

function figures ({ name, cost }) {
  const [koa, kone] = ['koa', 'kone'].map(side => {
    return cost.rows.find(row => row.workload === name && row.contender === side && row.metric === 'cpu')
  })
  const { median: ratio, min, max } = pairedRatio(kone.rounds, koa.rounds)
  return [koa.median.toFixed(0), kone.median.toFixed(0), `${ratio.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`]
}

/**
 * The whole of test/compat/README.md, of the results alone.
 *
 * @param {object[]} results
 * @return {string}
 */
exports.page = function (results) {
  return `# Real applications

Unmodified, with koa and with kone in koa's place (\`"koa": "file:kone.tgz"\` and \`overrides\`, so
that every package in the tree gets it). One client sends the same requests to both; status, reason,
headers and body have to be equal, but for dates, ids and signatures. The times are server CPU per
request, in the rounds of the [lab](../../benchmarks/README.md): medians of the rounds; the ratio is that of the
rounds, with the lowest and the highest. They tell what an app saves as a whole; its own work, a database's for
example, is in both.

${table(results)}

${[...measured(results), ...remarks(results)].map(line => `- ${line}\n`).join('')}
\`make compat\` writes this page from [results.json](results.json), which has the conditions and the figures of every
round. The apps are in [real/apps](real/apps); \`make compat ARGS=strapi\` runs one of them.
`
}

// When, where and how: a line for all apps that were measured alike.
function measured (results) {
  const groups = new Map()
  for (const result of results.filter(one => !unmeasured(one))) {
    const key = how(result.cost)
    groups.set(key, [...groups.get(key) ?? [], result])
  }
  return [...groups].map(([key, group]) => {
    const which = groups.size === 1 ? 'Measured' : `${group.map(({ title }) => title).join('; ')}: measured`
    const conditions = group.flatMap(({ cost }) => cost.conditions)
    return `${which} ${key}. ${quiet(group, conditions)} (medians of the rounds: ${taken(conditions)}).`
  })
}

// A machine that was quiet in most rounds of all apps may have been busy in those of one.
function quiet (group, conditions) {
  const [{ cost: { machine } }] = group
  const noise = quietness({ machine, conditions })
  if (noise.length) return `The machine was not quiet, compare the two columns only: ${noise.join('; ')}`
  const disturbed = group.filter(({ cost }) => quietness(cost).length > 0).map(({ title }) => title)
  return disturbed.length ? `The machine was not quiet in the rounds of ${disturbed.join('; ')}` : 'The machine was quiet'
}

function how ({ date, node, commit, machine: { cpu, cores, kernel }, rounds, generator, connections, seconds }) {
  const hash = commit ? `commit ${commit.hash.slice(0, 7)}${commit.dirty ? ' with changes' : ''}` : 'an unknown commit'
  return `on ${date.slice(0, 10)}, Node ${node.slice(1)}, ${hash}, ${cores} × ${cpu}, ${kernel}; ` +
    `${rounds} rounds of ${seconds} s by ${generator}, ${connections} connections`
}

function taken (conditions) {
  const of = name => median(conditions.map(one => one[name]))
  return `other processes took ${percent(of('others'))} of it, the hypervisor ${percent(of('steal'))}, load average ${of('load').toFixed(1)}`
}

const percent = share => `${(share * 100).toFixed(1)} %`

function remarks (results) {
  return results.filter(one => !unmeasured(one) && one.cost.remarks.length > 0)
    .map(({ title, cost }) => `${title}: ${cost.remarks.map(({ contender, remark }) => `${contender}, ${remark}`).join('; ')}.`)
}
