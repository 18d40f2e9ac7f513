'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { ratio } = require('./text')

/*
 * A claim is what every round of a committed result supports, rounded up to twentieths: kone ÷ another, at most. A
 * lab's view.js names what is compared; the figures in claims.json are written by `make report`, and follow the results. A
 * result of which every round contradicts a claim makes it fail, until somebody measures again, or accepts the higher
 * figure with --accept.
 */

const FILE = path.join(__dirname, 'claims.json')

const roundedUp = ratio => Math.ceil(Math.round(ratio * 1e6) / 5e4) / 20
const keyOf = ({ lab, says }) => `${lab}: ${says}`

/** What the views of the labs compare, held against results. */
const measured = exports.measured = ({ lab, claims = [] }, all) =>
  claims.flatMap(([says, workload, to, { contender = 'kone', ...how } = {}]) => all.map(figures =>
    ({ lab, says, on: figures.major, spread: figures.ratio(workload, contender, to, how), isQuick: figures.result.derived.quick })
  )).filter(({ spread }) => spread)

/** The claims that results support. */
exports.updated = function (found, kept, { accept } = {}) {
  const claims = {}
  const broken = []
  for (const { spread, on, isQuick, ...of } of found) {
    const name = keyOf(of)
    const before = kept[name]?.[on]
    const now = roundedUp(spread.max)
    const isBroken = before !== undefined && spread.min > before
    if (isBroken && !accept) {
      broken.push(`${name}, Node ${on}: claimed at most ${before}, the best round is ${spread.min.toFixed(2)}`)
    }
    const atMost = isQuick || (isBroken && !accept) ? before : now
    if (atMost !== undefined) claims[name] = { ...claims[name], [on]: atMost }
  }
  return { claims, broken }
}

/** the claims of claims.json */
exports.read = () => JSON.parse(fs.readFileSync(FILE, 'utf8'))

exports.write = function (claims) {
  const lines = Object.entries(claims).map(([name, nodes]) => `  ${JSON.stringify(name)}: ${JSON.stringify(nodes)}`)
  fs.writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`)
}

/** The claims of a lab as a table: what was measured on each version of Node, and what is claimed. */
exports.table = function (view, all, claims) {
  const found = measured(view, all)
  if (!found.length) return null
  const cell = (says, on) => {
    const atMost = claims[keyOf({ lab: view.lab, says })]?.[on]
    const { spread } = found.find(one => one.says === says && one.on === on) ?? {}
    return `${ratio(spread)}${atMost === undefined ? '' : `; ≤ ${atMost.toFixed(2)}`}`
  }
  const nodes = all.map(({ major }) => major)
  return [
    ['', ...nodes.map(on => `Node ${on}; claim`)],
    ...[...new Set(found.map(({ says }) => says))].map(says => [says, ...nodes.map(on => cell(says, on))])
  ]
}
