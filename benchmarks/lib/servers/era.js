'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { execFile } = require('node:child_process')
const { promisify } = require('node:util')
const { CACHE, binary } = require('./binaries')

const run = promisify(execFile)

/*
 * The time of the first report of kone, spring 2017: its two versions of Node and the packages it names. What it
 * uses but does not name (cors, favicon, helmet, nunjucks) is of the same months. kone itself needs Node 20.
 */

const NODES = ['6.9.2', '7.6.0']

const PACKAGES = exports.PACKAGES = {
  bluebird: '3.4.7',
  express: '4.14.1',
  kcors: '2.2.1',
  koa: '2.0.1',
  'koa-bodyparser': '2.3.0',
  'koa-convert': '1.2.0',
  'koa-csrf': '3.0.4',
  'koa-favicon': '2.0.0',
  'koa-helmet': '3.1.0',
  'koa-i18n': '1.2.0',
  'koa-jsonp': '2.0.2',
  'koa-locale': '1.2.0',
  'koa-log4': '2.1.0',
  'koa-router': '7.0.1',
  'koa-session-minimal': '3.0.3',
  'koa-static2': '0.1.8',
  'koa-views': '5.2.0',
  nunjucks: '3.0.0',
  toa: '2.6.8',
  'trek-engine': '0.5.3'
}

/** The option of a lab that measures that time as well. */
exports.option = { help: `also Node ${NODES.join(' and ')} with the packages of 2017` }

/**
 * Contenders of that time, once per version of Node; what cannot be got is missing in the result.
 *
 *    await era(lab, list('/…/labs/battle/contenders-2017.js'))
 *    // [{ version: '6.9.2', contenders: [{ name: 'koa-2.0.1', …, node: '/…/6.9.2/node' }] }, …]
 */
exports.era = async function (lab, contenders) {
  console.error(`getting Node ${NODES.join(' and ')} and the packages of 2017, unless they are in ${CACHE}`)
  const found = []
  try {
    const modules = await install()
    for (const wanted of NODES) {
      const { version, file: node } = await binary(wanted)
      const fitted = contenders.map(one => ({
        ...one,
        name: one.package ? one.name : `${one.name}-${version}`,
        node,
        env: { KONE_2017: modules },
        version: () => PACKAGES[one.package] ?? version
      }))
      found.push({ version, contenders: fitted })
    }
  } catch (err) {
    lab.miss('the time of 2017', err.message)
  }
  return found
}

// All or nothing: a folder that is there is whole.
async function install () {
  const folder = path.join(CACHE, 'era')
  const manifest = JSON.stringify({ private: true, dependencies: PACKAGES }, null, 2)
  const modules = path.join(folder, 'node_modules')
  if (read(path.join(folder, 'package.json')) === manifest) return modules

  fs.mkdirSync(CACHE, { recursive: true })
  const made = fs.mkdtempSync(path.join(CACHE, 'unpacking-'))
  try {
    fs.writeFileSync(path.join(made, 'package.json'), manifest)
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: made })
    fs.rmSync(folder, { recursive: true, force: true })
    fs.renameSync(made, folder)
    return modules
  } catch (err) {
    throw new Error(`npm install in ${folder} with the packages of benchmarks/lib/servers/era.js (${err.message.split('\n')[0]})`)
  } finally {
    fs.rmSync(made, { recursive: true, force: true })
  }
}

function read (file) {
  try {
    return fs.readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
