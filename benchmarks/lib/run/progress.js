'use strict'

/** Progress on stderr: one line that is drawn over on a terminal, a line per tenth elsewhere. */
module.exports = function bar (total, stream = process.stderr) {
  const begin = performance.now()
  let done = -1
  let tenth = -1

  function tick (doing) {
    done = Math.min(done + 1, total)
    const reached = Math.floor(done / total * 10)
    if (stream.isTTY) {
      const percent = `${String(Math.floor(done / total * 100)).padStart(3)} %`
      const left = done > 0 ? `, about ${Math.ceil((performance.now() - begin) / 1000 / done * (total - done))} s more` : ''
      stream.write(`\r\x1b[K${percent} ${doing}${left}`.slice(0, stream.columns))
    } else if (reached !== tenth) {
      stream.write(`${String(reached * 10).padStart(3)} % ${doing}\n`)
    }
    tenth = reached
  }

  return { tick, end: () => stream.write(stream.isTTY ? '\r\x1b[K' : '100 % done\n') }
}
