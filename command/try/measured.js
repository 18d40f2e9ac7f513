'use strict'

const SMALLEST = 0.02 // share of a package that is named
const BUSY = 0.9 // of the time; what is idle more has fewer requests in a turn of the event loop, and each costs more

/**
 * @param {object} measured of measure.js
 * @return {string[]} what `kone try --measure` prints
 */
exports.lines = function ({ connections, compiled, left, fallbacks, disturbances, rows }) {
  if (rows.length === 0) return ['', `there is nothing to measure: ${left.length > 0 ? `no response is a success: ${left.join('; ')}` : 'no request has a path of --only'}`]
  const table = [
    ['', 'kone ÷ Koa', 'Koa ÷ Koa', 'Koa, µs', 'kone, µs'],
    ...rows.filter(({ reason }) => reason === undefined).map(({ name, kone, koa, micros }) => [
      name, ratio(kone), ratio(koa), micros.koa.toFixed(1), micros.kone.toFixed(1), ...overlap(kone, koa) ? ['no difference that this machine could measure'] : []
    ])
  ]
  const widths = table[0].map((_, i) => Math.max(...table.map(row => row[i].length)))
  return [
    '',
    `CPU time of the app's process per request; ${connections} kept connections of raw sockets; median (lowest–highest round)`,
    ...table.map(row => row.map((cell, i) => i === 0 ? cell.padEnd(widths[i]) : i < widths.length ? cell.padStart(widths[i]) : cell).join('  ').trimEnd()),
    ...rows.filter(({ reason }) => reason !== undefined).map(({ name, reason }) => `${name}: not measured: ${reason}`),
    ...rows.filter(({ busy }) => busy?.kone < BUSY).map(({ name, busy }) =>
      `${name}: kone was idle ${Math.round(100 * (1 - busy.kone))} % of the time: the sockets, or what the app waits for, are the limit`),
    ...rows.filter(({ warmed }) => warmed < compiled).map(({ name, warmed }) =>
      `${name}: V8 may still have compiled, because there was time for ${number(warmed)} requests before, not ${number(compiled)}: give more --seconds`),
    ...disturbances.map(reason => `the machine was not quiet: in half of the rounds ${reason}`),
    ...left.length > 0 ? [`not measured, because the response is no success: ${left.join('; ')}`] : [],
    ...(fallbacks ?? []).map(reason => `node:http serves in place of kone's front, because of ${reason}`),
    ...rows.filter(({ packages }) => packages).flatMap(({ name, packages }) => ['', `where the time goes on kone, ${name}: ${shares(packages)}`])
  ]
}

const number = figure => figure.toLocaleString('en')

const ratio = ({ median, min, max }) => `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`

const overlap = (a, b) => a.min <= b.max && b.min <= a.max

function shares (packages) {
  const all = Object.entries(packages).filter(([, share]) => share >= SMALLEST).sort(([, a], [, b]) => b - a)
  return all.map(([name, share]) => `${name === 'node' ? 'node and the kernel' : name} ${Math.round(share * 100)} %`).join(', ')
}
