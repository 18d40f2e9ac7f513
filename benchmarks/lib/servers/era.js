'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { execFile } = require('node:child_process')
const { promisify } = require('node:util')
const { CACHE, binary, unpacking } = require('./binaries')
const manifest = require('./packages-2017.json')

/*
 * The time of the first report of kone, spring 2017: its two versions of Node and the packages it names. What it
 * uses but does not name (cors, favicon, helmet, nunjucks) is of the same months. kone itself needs Node 20.
 */

const NODES = ['6.9.2', '7.6.0']

/** The option of a lab that measures that time as well. */
exports.option = { help: `also Node ${NODES.join(' and ')} with the packages of 2017` }

/**
 * The parts of a lab for contenders of that time, once per version of Node; what cannot be got is missing in the result.
 *
 *    await eraParts(lab, list('/…/labs/battle/contenders-2017.js'), { hello: question }, load)
 *    // [{ name: 'hello, Node 6.9.2', act: [Function], size: 18 }, …], of contenders as 'koa-2.0.1' and 'node-6.9.2'
 *
 * @param {object} questions by workload, which is the argument of the contenders
 * @param {(cells: object[]) => void} [show] what was measured
 */
exports.eraParts = async function (lab, contenders, questions, load, show = () => {}) {
  if (!lab.options.era) return []
  console.error(`getting Node ${NODES.join(' and ')} and the packages of 2017, unless they are in ${CACHE}`)
  const parts = []
  try {
    const env = { KONE_2017: await install() }
    for (const wanted of NODES) {
      const { version, file: node } = await binary(wanted)
      const named = one => one.package ? one.name : `${one.name}-${version}`
      for (const [name, question] of Object.entries(questions)) {
        const workload = `${name}, Node ${version}`
        const taking = contenders.map(one =>
          ({ ...one, name: named(one), args: [name], node, env, version: () => manifest.dependencies[one.package] ?? version }))
        const act = async () => show(await lab.group(taking, { workload, ...question, reference: `node-${version}` }, { [workload]: load }))
        parts.push({ name: workload, act, size: taking.length * load.seconds })
      }
    }
  } catch (err) {
    lab.miss('the time of 2017', err.message)
  }
  return parts
}

// All or nothing: a folder that is there is whole.
async function install () {
  const folder = path.join(CACHE, 'era')
  const modules = path.join(folder, 'node_modules')
  const file = path.join(folder, 'package.json')
  const text = JSON.stringify(manifest, null, 2)
  if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text) return modules

  try {
    await unpacking(async made => {
      fs.writeFileSync(path.join(made, 'package.json'), text)
      const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
      await promisify(execFile)('npm', ['install', ...options], { cwd: made })
      fs.rmSync(folder, { recursive: true, force: true })
      fs.renameSync(made, folder)
    })
    return modules
  } catch (err) {
    throw new Error(`npm install in ${folder} with benchmarks/lib/servers/packages-2017.json (${err.message.split('\n')[0]})`)
  }
}
