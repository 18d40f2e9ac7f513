'use strict'

const { SingleBar, Presets } = require('cli-progress')

/**
 * A progress bar on stderr: one line that is drawn over on a terminal, a line per tenth elsewhere.
 *
 *    const progress = bar(40)
 *    progress.tick('round 1 of 8: kone')
 *    progress.end()
 *
 * @param {number} total steps
 * @param {NodeJS.WriteStream} [stream]
 * @return {{ tick: (doing: string) => void, end: () => void }}
 */
module.exports = function bar (total, stream = process.stderr) {
  return stream.isTTY ? drawn(total, stream) : printed(total, stream)
}

function drawn (total, stream) {
  const one = new SingleBar({
    stream,
    format: '{bar} {percentage} % {doing} ({duration_formatted}, about {eta_formatted} more)',
    barsize: 24,
    clearOnComplete: true,
    hideCursor: true,
    linewrap: false,
    etaBuffer: 20,
    gracefulExit: false // the lab ends its processes on signals
  }, Presets.shades_classic)
  let done = -1
  return {
    tick (doing) {
      if (++done === 0) one.start(total, 0, { doing })
      else one.update(Math.min(done, total), { doing })
    },
    end: () => one.stop()
  }
}

function printed (total, stream) {
  let done = -1
  let tenth = -1
  return {
    tick (doing) {
      done = Math.min(done + 1, total)
      const reached = Math.floor(done / total * 10)
      if (reached === tenth) return
      tenth = reached
      stream.write(`${String(reached * 10).padStart(3)} % ${doing}\n`)
    },
    end: () => stream.write('100 % done\n')
  }
}
