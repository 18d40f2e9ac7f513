'use strict'

const SHOWN = 10
const REFUSED = [401, 403, 429]

/** Differences between Koa and kone that are intended (MIGRATION.md, "What is different"). */
const KNOWN = [
  {
    is: ({ key, koa, kone }) => key === 'field content-length' && koa === null && /: 0$/.test(kone),
    why: 'a body of null with a status such as 401: kone sends Content-Length: 0 and keeps the connection, as Koa 3'
  },
  {
    is: ({ key, koa }) => key === 'failure' && /ECONNRESET|no response within/.test(koa),
    why: 'Koa sends no response to some errors: kone responds with 500, or closes the connection at once'
  }
]

/**
 * @param {object} result of `kone try`
 * @param {string[]} command as it was given, with its --
 * @return {string[]} what it prints
 */
exports.lines = function (result, command) {
  const { koa, kone, node, requests, left, same, statuses, masked, differences, measured } = result
  const tried = [
    `koa ${koa} and kone ${kone} on Node ${node}: ${count(requests, 'request')}, each three times to both`,
    `${same} of ${requests} the same (${mix(statuses)})`,
    ...left > 0 ? [`not sent: ${count(left, 'request')} of other methods than GET and HEAD; --all-methods sends them to three processes, which really do them`] : [],
    ...masked.length > 0 ? [`not compared, because Koa differs from itself there: ${places(masked)}`] : [],
    ...isMostlyRefused(statuses) ? ["most responses refuse the request, which proves little: give --header 'authorization: …'"] : []
  ]
  return [
    ...tried,
    ...differences.slice(0, SHOWN).flatMap(shown),
    ...differences.length > SHOWN ? ['', `and ${count(differences.length - SHOWN, 'difference')} more: --json has all`] : [],
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
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts].map(([status, n]) => n === 1 ? status : `${status} ×${n}`).join(', ')
}

const isMostlyRefused = statuses => statuses.filter(status => REFUSED.includes(status)).length * 2 > statuses.length

function shown (difference) {
  const { request, key, koa, kone } = difference
  const known = KNOWN.find(({ is }) => is(difference))
  return [
    '',
    `${request}: ${key}`,
    `  - koa   ${koa ?? '(missing)'}`,
    `  + kone  ${kone ?? '(missing)'}`,
    ...known ? [`  ${known.why} (kone/MIGRATION.md)`] : []
  ]
}
