'use strict'

const SHOWN = 10
const REFUSED = [401, 403, 429]

/**
 * @param {object} result of `kone try`
 * @param {string[]} command as it was given, with its --
 * @return {string[]} what it prints
 */
exports.lines = function (result, command) {
  const { koa, kone, node, requests, left, same, statuses, failed, masked, differences, measured } = result
  const tried = [
    `koa ${koa} and kone ${kone} on Node ${node}: ${count(requests, 'request')}, each three times to both`,
    `${same} of ${requests} the same (${mix(statuses)})`,
    ...failed.map(({ request, failure }) => `no response to compare: ${request}: ${failure}`),
    ...left > 0 ? [`not sent: ${count(left, 'request')} of other methods than GET and HEAD; --all-methods sends them to three processes, which really do them`] : [],
    ...masked.length > 0 ? [`not compared, because Koa differs from itself there: ${places(masked)}`] : [],
    ...isMostlyRefused(statuses) ? ["most responses refuse the request, which proves little: give --header 'authorization: …'"] : [],
    ...statuses.every(status => status === 404) ? ['nothing but 404 was compared, which proves little: give --requests or --har'] : []
  ]
  return [
    ...tried,
    ...differences.slice(0, SHOWN).flatMap(shown),
    ...differences.length > SHOWN ? ['', `and ${differences.length - SHOWN} more: --json has all`] : [],
    ...differences.length > 0 ? [''] : [],
    ...measured === undefined
      ? [`what it saves: npx kone try --measure ${command.join(' ')}`]
      : require('./measured').lines(measured)
  ]
}

/** What several requests have is named once. */
function places (masked) {
  const requests = new Map()
  for (const { request, what } of masked) {
    for (const one of what) requests.set(one, [...requests.get(one) ?? [], request])
  }
  return [...requests].sort(([, a], [, b]) => b.length - a.length)
    .map(([what, of]) => `${what.replace(/^field /, '')}${of.length > 1 ? '' : ` of ${of[0]}`}`).join(', ')
}

const count = (n, noun) => `${n} ${noun}${n === 1 ? '' : 's'}`

function mix (statuses) {
  const counts = new Map()
  for (const status of statuses) counts.set(status ?? 'none', (counts.get(status ?? 'none') ?? 0) + 1)
  return [...counts].map(([status, n]) => n === 1 ? status : `${status} ×${n}`).join(', ')
}

const isMostlyRefused = statuses => statuses.filter(status => REFUSED.includes(status)).length * 2 > statuses.length

/** What explains several parts of one response is printed behind the last of them. */
function shown ({ request, key, koa, kone, known }, i, all) {
  const next = all[i + 1]
  return [
    '',
    `${request}: ${key}`,
    `  - koa   ${koa ?? '(missing)'}`,
    `  + kone  ${kone ?? '(missing)'}`,
    ...known === null || (next?.request === request && next.known === known) ? [] : [`  known: ${known}`]
  ]
}
