'use strict'

/**
 * Compares the responses of real applications, with koa and with kone in koa's place.
 *
 *    node test/compat/real/run.js                all of them
 *    node test/compat/real/run.js rest strapi    some
 *    … --node=26                                 the Node that runs the servers, as in the lab
 *    … --try                                     by `kone try`, without installing kone
 *    node test/compat/real/run.js --as-koa       test runners and packages' own tests, by kone/as-koa; or some, by name
 *    KONE_FRONT=callback …                       in servers that other code creates, with app.callback()
 */

const { execFileSync } = require('node:child_process')
const path = require('node:path')

const { nodeBinary, nodeVersion } = require('../../../benchmarks/lib/run/node')
const Server = require('../../../benchmarks/lib/servers/server')
const commandLine = require('../../../tools/command-line')
const { all, comparison, contender, install, suite } = require('./applications')
const asKoa = require('./as-koa')
const { tried } = require('./try')

if (require.main === module) main()

async function main () {
  const { names, node, isTry, isAsKoa } = await parse()
  for (const name of names) {
    try {
      console.log(`same     ${name}: ${isAsKoa ? asKoa.check(name, { node }) : await compared(all().find(app => app.name === name))}`)
    } catch (err) {
      console.log(`FAILS    ${name}: ${err.message}`)
      process.exitCode = 1
    }
  }

  async function compared (app) {
    const responses = isTry ? await tryIt(app, node) : app.responses
    if (!isTry) await compare(app, node)
    return `${app.title}, ${responses} responses`
  }
}

// A mistake ends it with one line, before anything is installed.
async function parse () {
  const FLAGS = { node: { type: 'string', value: 'version' }, try: { type: 'boolean' }, 'as-koa': { type: 'boolean' } }
  const known = process.argv.includes('--as-koa') ? asKoa.names : all().map(({ name }) => name)
  const { values: { node: wanted = process.execPath, try: isTry, 'as-koa': isAsKoa }, positionals } =
    commandLine('compat', FLAGS, 'docs/api/real-applications.md', known)
  try {
    const node = await nodeBinary(wanted)
    nodeVersion(node)
    return { names: positionals.length === 0 ? known : positionals, node, isTry, isAsKoa }
  } catch (err) {
    console.error(`compat: ${err.message}`)
    process.exit(2)
  }
}

async function compare (app, node) {
  const check = app.suite ? suite(app, { node }) : comparison(app)
  const printed = {}
  const servers = []
  const start = async (name, how) => {
    servers.push(await Server.start({ name, ...how }, { node, within: how.within }))
    return servers.at(-1)
  }
  try {
    for (const side of ['koa', 'kone']) {
      const folder = install(app, side, { node })
      if (side === 'koa') examine(folder, app)
      if (app.suite) {
        check(side, folder)
        continue
      }
      const behind = app.behind && await start('behind', contender(app, folder, { part: 'behind' }))
      const server = await start(side, contender(app, folder, behind))
      await check(server)
      printed[side] = server.said.trim().split('\n')
    }
  } finally {
    for (const server of servers) await server.stop()
  }
  // warnings, say, of a deprecated getter that kone reads and Koa does not
  if (printed.kone?.length > printed.koa?.length) throw new Error(`it prints more than on Koa: ${printed.kone.join(' ')}`)
}

/** What is behind an app, kone try does not start: those apps are not tried. */
async function tryIt (app, node) {
  if (app.suite || app.behind) throw new Error('is a suite, or needs a server behind it: kone try runs neither')
  if (app.koa !== 2) throw new Error(`needs kone@${app.koa}`)
  const folder = install(app, 'koa', { node })
  const server = await Server.start({ name: 'koa', ...contender(app, folder) }, { node, within: contender(app, folder).within })
  const { error, requests, differences } = await tried(app, { folder, port: server.port, node }).finally(() => server.stop())
  if (error !== undefined) throw new Error(error)
  const [first] = differences
  if (first) throw new Error(`${first.request}: ${first.key} is ${first.kone}, not ${first.koa}`)
  return requests
}

// `kone doctor` names what of an app is tested, at the versions that are installed.
function examine (folder, { packages }) {
  const command = path.join(__dirname, '../../../command/index.js')
  const { tested, notInstalled } = JSON.parse(execFileSync(process.execPath, [command, 'doctor', '--json'], { cwd: folder, encoding: 'utf8' }))
  const names = tested.map(({ name }) => name)
  const wanted = Object.keys(packages).filter((name, i) => i === 0 || name.includes('koa'))
  const missing = wanted.filter(name => !names.includes(name))
  if (missing.length > 0 || notInstalled.length > 0) throw new Error(`kone doctor lacks ${missing.join(', ') || 'installed packages'}`)
}
