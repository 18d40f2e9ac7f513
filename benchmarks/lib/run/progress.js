'use strict'

const WIDTH = 24

/**
 * A progress bar on stderr: one line that is drawn over on a terminal, a line per tenth elsewhere.
 *
 *    const progress = bar(40)
 *    progress.tick('round 1 of 8: kone')
 *    progress.end()
 *
 * @param {number} total steps
 * @param {{ isTTY?: boolean, columns?: number, write: Function }} [out]
 * @return {{ tick: (doing: string) => void, end: () => void }}
 */
module.exports = function bar (total, out = process.stderr) {
  let done = -1
  let tenth = -1

  function tick (doing) {
    done = Math.min(done + 1, total)
    const line = `${draw(done / total)} ${doing}`
    if (out.isTTY) return out.write(`\r\x1b[K${line.slice(0, (out.columns || 80) - 1)}`)
    if (Math.floor(done / total * 10) === tenth) return
    tenth = Math.floor(done / total * 10)
    out.write(`${line}\n`)
  }

  function end () {
    out.write(out.isTTY ? '\r\x1b[K' : `${draw(1)} done\n`)
  }

  return { tick, end }
}

const draw = module.exports.draw = function (share) {
  const full = Math.round(share * WIDTH)
  return `[${'='.repeat(full)}${' '.repeat(WIDTH - full)}] ${String(Math.round(share * 100)).padStart(3)} %`
}
