'use strict'

const SMALLEST = 0.02 // share of a package that is named

/**
 * @param {object} measured of measure.js
 * @return {string[]} what `kone try --measure` prints
 */
exports.lines = function ({ connections, left, fallbacks, rows }) {
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
    ...left.length > 0 ? [`not measured, because the response is no success: ${left.join('; ')}`] : [],
    ...(fallbacks ?? []).map(reason => `node:http serves in place of kone's front, because of ${reason}`),
    ...rows.filter(({ packages }) => packages).flatMap(({ name, packages }) => ['', `where the time goes on kone, ${name}: ${shares(packages)}`])
  ]
}

const ratio = ({ median, min, max }) => `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`

const overlap = (a, b) => a.min <= b.max && b.min <= a.max

function shares (packages) {
  const all = Object.entries(packages).filter(([, share]) => share >= SMALLEST).sort(([, a], [, b]) => b - a)
  return all.map(([name, share]) => `${name === 'node' ? 'node and the kernel' : name} ${Math.round(share * 100)} %`).join(', ')
}
