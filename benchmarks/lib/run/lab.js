'use strict'

const fs = require('node:fs')
const path = require('node:path')
const Session = require('./session')
const { nodeBinary } = require('./node')
const { OptionError, parse, usage } = require('./options')
const { OUT, write } = require('./result')

const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } // and the codes that shells give

/**
 * A lab: it runs when its file is the one that was started; otherwise the file exports the definition.
 *
 * @param {NodeModule} module of the lab
 * @param {object} definition
 * @param {string} definition.name
 * @param {object[]|Function} definition.contenders as contenders.js lists them, or a function that gives them: what it
 *   throws is printed as a mistake on the command line is
 * @param {object} [definition.options] of this lab alone, as options.js takes them
 * @param {(lab: Session) => Promise<void>} definition.measure
 * @param {object} definition.view what is shown of a result, as report/page.js takes it
 * @param {(result: object) => string[]} [definition.missed] goals that a result does not reach: they are printed, and the
 *   exit code is 1
 */
exports.lab = function (module, definition) {
  module.exports = definition
  const { contenders } = definition
  if (typeof contenders === 'function') {
    let given
    Object.defineProperty(definition, 'contenders', { enumerable: true, get: () => (given ??= contenders()) })
  }
  if (require.main === module) start(definition, process.argv.slice(2))
}

// From the command line to the exit code; no process is left behind, whatever happens.
async function start (definition, argv) {
  const { name, options: own, measure, view, missed = () => [] } = definition
  let session
  const leave = (code, message) => {
    if (message) console.error(message)
    session?.end()
    process.exit(code)
  }
  for (const [signal, code] of Object.entries(SIGNALS)) {
    process.once(signal, () => {
      if (session?.keepWhatIsMeasured()) session.print()
      leave(code, `\n${name}: ended by ${signal}, nothing is written`)
    })
  }
  process.once('uncaughtException', err => leave(1, `${name}: ${err.stack}`))
  try {
    const { contenders } = definition
    const names = contenders.map(contender => contender.name)
    const options = parse(argv, { lab: name, contenders: names, own })
    if (options.help) return console.log(usage(name, names, own))
    options.node = await nodeBinary(options.node)
    fs.mkdirSync(OUT, { recursive: true }) // a folder that cannot be written to is no news for the end of the run
    fs.accessSync(OUT, fs.constants.W_OK)
    session = new Session(name, contenders, options, argv, { lab: name, ...view })
    await measure(session)
    session.print()
    finish(session.result)
    const below = missed(session.result)
    leave(below.length ? 1 : 0, below.join('\n'))
  } catch (err) {
    if (err instanceof OptionError) leave(2, err.message)
    const isDisk = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS', 'EACCES', 'ENOTDIR', 'EEXIST'].includes(err.code)
    leave(1, `${name}: ${isDisk ? `the result cannot be written: ${err.message}` : err.stack}`)
  }
}

function finish (result) {
  const { machine: { cpu, cores, kernel }, node, derived: { quick, rounds }, skipped } = result
  console.log(`\n${cpu}, ${cores} cores, ${kernel}, Node ${node}, ${rounds} rounds${quick ? ' (a first look, not a result: --full)' : ''}`)
  console.log(path.relative(process.cwd(), write(result)))
  if (skipped.length) {
    console.log(`This result is not complete: there was no time for ${skipped.map(({ part }) => part).join('; ')}. With --full everything is measured.`)
  }
}
