'use strict'

const { missed } = require('./claims')
const { DASH, figure, list, picture, range, ratio, table, threshold, whole } = require('./markdown')
const { median } = require('../run/stats')
const { compact, short } = require('./text')
const { lines } = require('./svg')

/*
 * A page of docs/reports: one lab, its committed results, and the report that it goes back to. What a page says is in
 * pages/NAME.js; this is the frame that all of them have.
 */

/**
 * The page of a lab.
 *
 * @param {object} template of pages/: `{ lab, title, what, run, method, sections, charts?, original?, trend? }`, where
 *   original `()` gives the sections about the report that the lab goes back to,
 *   sections `(figures, context)` gives `{ heading, body }` and charts `(figures, context)` gives
 *   `{ name, alt, light, dark }`
 * @param {object} context
 * @param {Figures} [context.figures] of the newest result on the headline Node; none where nothing is committed
 * @param {Figures[]} context.others on other versions of Node, the newest first
 * @param {object[]} context.claims of this lab, checked
 * @param {[number, object[]][]} context.history as `of` of history.js gives it
 * @param {(result: object) => boolean} context.isStale whether lib/ has changed since
 * @return {{ text: string, charts: object[] }} markdown, and the charts that it shows
 */
exports.page = function (template, context) {
  const { title, what, run, original } = template
  const begin = [`# ${title}`, ...paragraphs(what)]
  if (!context.figures) {
    const none = `No result of this lab is committed. To get one: \`${run}\`, which writes to \`benchmarks/out/\`; ` +
      '`make results` copies a complete run to `benchmarks/results/`, and `make report` makes this page from it.'
    return { text: joined([...begin, none, ...(original?.() ?? []).map(section)]), charts: [] }
  }

  const { figures, others, claims } = context
  const charts = template.charts?.(figures, context).filter(Boolean) ?? []
  const trends = trendChart(template, context)
  const sections = template.sections(figures, context).filter(Boolean)
  const text = joined([
    ...begin,
    warnings(context),
    section({ heading: 'Not supported', body: unsupported(figures, claims) }),
    section({ heading: 'How it was measured', body: [facts([figures, ...others], template), ...paragraphs(template.method)] }),
    ...charts.filter(({ above }) => above).map(picture),
    ...sections.map(section),
    section(rest(figures)),
    section(claimed(claims)),
    section(trend(template, context, trends)),
    section(remarks(figures))
  ])
  return { text, charts: trends ? [...charts, trends] : charts }
}

const paragraphs = text => [text].flat().filter(Boolean)
const joined = parts => `${parts.flat(Infinity).filter(Boolean).join('\n\n')}\n`

function section (one) {
  const body = one && [one.body].flat().filter(Boolean)
  return body?.length ? [`## ${one.heading}`, ...body] : null
}

/** Around a warning that is left out when a page is compared: it depends on the repository, not on the results. */
const [OPEN, CLOSE] = exports.STALE = ['<!-- stale -->', '<!-- /stale -->']

function warnings ({ figures, others, isStale }) {
  const all = [figures, ...others].map(({ result }) => result)
  const stale = all.filter(isStale).map(result => `Node ${parseInt(result.node.slice(1))}, commit ${commit(result)}`)
  return [
    ...stale.length > 0
      ? [`${OPEN}\n> **Warning:** \`lib/\` has changed since these results were measured (${stale.join('; ')}). ` +
        `The current code may cost more or less.\n${CLOSE}`]
      : [],
    ...all.some(({ derived }) => derived?.quick)
      ? ['> **Warning:** this is a quick run, for a first look. It is not a result.']
      : []
  ]
}

function unsupported ({ result }, claims) {
  const measured = claims.filter(({ verdict }) => verdict !== 'not measured')
  const not = measured.filter(({ verdict }) => verdict !== 'supported')
  const items = [
    ...not.map(({ says, on, atMost, spread, verdict }) =>
      `${says}: claimed at most ${threshold(atMost)} on Node ${on}, measured ${ratio(spread)}` +
      `${verdict === 'by the median' ? '; supported by the median, not by every round' : ''}.`),
    ...missed(result).filter(target => !not.some(({ spread }) => isSame(spread, target))).map(one =>
      `Target missed: ${one.what}: at most ${one.target}, measured ${ratio(one)}.`),
    ...absent(claims)
  ]
  if (items.length) return list(items)
  return measured.length
    ? `Nothing: each of the ${measured.length} claims below is supported in every round, and no target was missed.`
    : 'Nothing: this lab has no claim of its own, and no target was missed.'
}

// A target of a lab can be a claim, too.
const isSame = (one, other) => ['median', 'min', 'max'].every(name => one[name] === other[name])

// A line for each version of Node.
function absent (claims) {
  const open = claims.filter(({ verdict }) => verdict === 'not measured')
  return [...new Set(open.map(({ on }) => on))].map(on => {
    const here = open.filter(one => one.on === on).map(({ says }) => says)
    const isAll = claims.every(one => one.on !== on || one.verdict === 'not measured')
    return isAll ? `Not measured on Node ${on}, for which no result is committed: the claims below.` : `Not measured on Node ${on}: ${here.join('; ')}.`
  })
}

/**
 * @param {object} result
 * @return {string} its commit, short, and whether the checkout had changes that were not committed
 */
const commit = exports.commit = result => {
  const { hash, dirty } = result.commit ?? {}
  return hash ? `\`${hash.slice(0, 9)}\`${dirty ? ' with changes' : ''}` : 'unknown'
}

function facts (all, { hasManyNodes }) {
  const cell = read => all.map(read)
  const rows = [
    ['Commit', ...cell(({ result }) => commit(result))],
    ['Date', ...cell(({ result: { date } }) => date.slice(0, 10))],
    ['Rounds', ...cell(({ result: { derived, rows } }) => String(derived?.rounds ?? rows[0]?.rounds.length ?? '–'))],
    ['Machine', ...cell(({ result: { machine } }) => `${machine.cpu}, ${machine.cores} cores, ${machine.kernel}`)],
    ['Command', ...cell(({ result: { command } }) => `\`${command.replace(/\S*\/(?=bin\/node\b)/, '…/')}\``)],
    ...conditions(all)
  ]
  return table(['', ...cell(({ node }) => hasManyNodes ? 'all versions of Node' : `Node ${node}`)], rows, { text: all.map((_, i) => i + 1) })
}

/**
 * How quiet the machine was: medians of the rounds.
 *
 *    conditionsOf(result) // 'load average 1.60, stolen by the hypervisor 0.0 %, taken by other processes 0.1 %'
 *
 * @param {object} result
 * @return {string} '–' where it was not recorded
 */
const conditionsOf = exports.conditionsOf = function ({ conditions = [] }) {
  if (!conditions.length) return '–'
  return `load average ${middle(conditions, 'load').toFixed(2)}, stolen by the hypervisor ` +
    `${percent(middle(conditions, 'steal'))}, taken by other processes ${percent(middle(conditions, 'others'))}`
}

// How quiet the machine was, and what the generators cost against a server of fixed bytes.
function conditions (all) {
  const quiet = all.map(({ result }) => conditionsOf(result))
  const cost = ({ generator, failed, clientCpu, requestsPerSecond }) =>
    `${generator} ${failed ?? `${short(clientCpu)} µs of CPU for a request, ${whole(requestsPerSecond)} requests/s`}`
  const harness = all.map(({ result: { harness = [] } }) => harness.map(cost).join('; ') || '–')
  return [
    ...quiet.some(text => text !== '–') ? [['Machine during the rounds (medians)', ...quiet]] : [],
    ...harness.some(text => text !== '–') ? [['The load generator itself, against fixed bytes', ...harness]] : []
  ]
}

const middle = (list, name) => median(list.map(one => Number(one[name]) || 0))
const percent = share => `${(share * 100).toFixed(1)} %`

function rest (figures) {
  const bodies = figures.rest.flatMap(workload => {
    const metrics = [...new Set(figures.result.rows.filter(row => row.workload === workload).map(({ metric }) => metric))]
    return metrics.filter(metric => metric !== 'latency').map(metric => {
      const rows = figures.rows(workload, metric)
      return `**${workload}, ${metric}**\n\n${table(['', rows[0].unit, 'lowest–highest'], rows.map(row =>
        [figures.versioned(row.contender), shown(row), spreadOf(row)]))}`
    })
  })
  return { heading: 'Other workloads', body: bodies }
}

const isLarge = ({ unit, median }) => /^bytes/.test(unit) || median >= 1e5
const shown = row => isLarge(row) ? compact(row.median) : figure(row)
const spreadOf = row => isLarge(row) ? `${compact(row.min)}${DASH}${compact(row.max)}` : range(row)

function claimed (claims) {
  if (!claims.length) return null
  const words = { supported: 'supported', 'by the median': '**by the median only**', 'not supported': '**not supported**' }
  return {
    heading: 'Claims',
    body: [
      'A claim is *supported* when it is true in every round. The ratio is the median of the rounds’ own ratios; the ' +
      'lowest and the highest round are in parentheses. Below 1, kone costs less.',
      table(['Claim', 'Node', 'at most', 'measured', 'load by', ''], claims.map(({ says, on, atMost, spread, row, verdict }) =>
        [says, String(on), threshold(atMost), ratio(spread), row?.generator ?? '–', words[verdict] ?? verdict]), { text: [4, 5] })
    ]
  }
}

// A line for each ratio, over the commits of one version of Node: the newest that has two of them.
function trendChart ({ lab, trend = [] }, { history }) {
  const [major, entries] = history[0] ?? []
  if (!entries) return null
  const series = trend.map(({ what }) => ({
    name: what,
    points: entries.map(({ ratios }, x) => ({ x, ...ratios[what] })).filter(({ median }) => median)
  })).filter(({ points }) => points.length > 1)
  if (!series.length) return null
  return {
    name: `${lab}-trend`,
    alt: `Ratios of ${lab} on Node ${major}, by commit`,
    ...lines({
      title: `Trend on Node ${major}: ratios by commit`,
      subtitle: 'kone ÷ the other; lower is better',
      unit: 'ratio',
      x: { label: 'commit of the result', names: entries.map(({ commit }) => commit?.slice(0, 9) ?? 'unknown') },
      series
    })
  }
}

function trend ({ trend = [] }, { history }, chart) {
  const names = trend.map(({ what }) => what)
  const rows = history.flatMap(([major, entries]) => entries.map(({ commit, date, ratios }) =>
    [String(major), `\`${commit?.slice(0, 9) ?? 'unknown'}\``, date.slice(0, 10), ...names.map(what => ratio(ratios[what]))]))
  if (!rows.length) return null
  return { heading: 'Trend', body: [chart && picture(chart), table(['Node', 'commit', 'date', ...names], rows, { text: [1, 2] })] }
}

function remarks ({ result }) {
  const { missing = [], rejected = [], skipped = [], derived: { remarks = [], discarded = [] } = {} } = result
  const grouped = new Map()
  for (const { workload, contender, remark } of remarks) {
    const kind = remark.replace(/ \(.*/, '')
    grouped.set(kind, [...grouped.get(kind) ?? [], `${contender} (${workload})`])
  }
  const items = [
    ...missing.map(({ name, how }) => `Not measured: ${name}. ${how}`),
    ...skipped.map(({ part, reason }) => `Not measured: ${part}: ${reason}.`),
    ...rejected.map(({ workload, contender, reason }) => `Rejected: ${contender} in “${workload}”: ${reason}.`),
    ...[...grouped].map(([kind, where]) => `${kind[0].toUpperCase()}${kind.slice(1)}: ${few(where)}.`),
    discarded.length > 0 && `${discarded.length} round${discarded.length > 1 ? 's were' : ' was'} discarded and measured again, for errors ` +
      'or for more requests per second than its connections and latency allow (Little’s law).'
  ].filter(Boolean)
  return { heading: 'Left out, and remarks', body: items.length ? list(items) : 'No contender was left out, and no round was discarded.' }
}

const few = list => list.length > 8 ? `${list.slice(0, 8).join(', ')} and ${list.length - 8} more` : list.join(', ')
