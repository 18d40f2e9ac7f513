'use strict'

/**
 * The process that `kone dev` runs under `node --watch`: loads the app, lets it listen, prints its
 * routes and its URL.
 */

const { channel } = require('node:diagnostics_channel')
const net = require('node:net')
const tls = require('node:tls')
const { listenOn, load } = require('../cluster/app-file')
const errorLine = require('../cluster/error-line')
const { portError, read } = require('../cluster/settings')
const { names } = require('../lib/settings')
const { escapeControls } = require('../middleware/_shared/escape')
const callSites = require('./call-sites')
const errorPage = require('./error-page')
const { ownHostOnly, withHost } = require('./local')
const { print } = require('./print')
const { lines, routesOf } = require('./table')

const { KONE_APP: file, KONE_DEV_HOST: host } = process.env
delete process.env.KONE_APP
delete process.env.KONE_DEV_HOST
const isProduction = process.env.NODE_ENV === 'production'

const apps = []
let listens = false
const ports = new Set() // where it listens

process.on('uncaughtException', fail)
process.on('beforeExit', () => {
  if (listens) return
  fail(new Error(`${file} exports neither an app nor a function nor a server, and nothing listens: ` +
    'export the app (kone/docs/api/command.md)'))
})

const { listen } = net.Server.prototype
net.Server.prototype.listen = function (...args) {
  listens = true
  this.once('listening', () => announce(this))
  return listen.apply(this, withHost(args, host))
}

callSites.keep()
start().catch(fail)

async function start () {
  const { port } = read(process.env)
  process.env.PORT = String(port) // for an app that listens itself

  channel('kone:application').subscribe(({ app, options }) => {
    apps.push(app)
    app.use(ownHostOnly(host))
    if (isProduction) return
    app.use(errorPage(file))
    for (const name of Object.keys(options)) {
      if (!names.includes(name)) console.error(`kone: new Kone({ ${escapeControls(name)} }): there is no such option, expected ${names.join(', ')} (kone/docs/api/application.md)`)
    }
  })
  const exported = await load(file)
  if (!listens) listenOn(port, exported)
}

function announce (server) {
  print(apps.splice(0).flatMap(app => lines(routesOf(app))))
  const { port, address } = server.address()
  if (!port) return
  ports.add(port)
  const printed = printedFromNow()
  // after the listener of the app, which may print the URL itself
  setImmediate(() => {
    if (!printed().includes(`:${port}`)) console.log(`${server instanceof tls.Server ? 'https' : 'http'}://${nameOf(address)}:${port}`)
  })
}

/** @return {function(): string} stops, and returns what was written to standard output */
function printedFromNow () {
  const { write } = process.stdout
  let text = ''
  process.stdout.write = function (chunk, ...rest) {
    text += chunk
    return write.call(this, chunk, ...rest)
  }
  return () => {
    process.stdout.write = write
    return text
  }
}

/** The host in the URL of a server. */
function nameOf (address) {
  if (['127.0.0.1', '::1', '0.0.0.0', '::'].includes(address)) return 'localhost'
  return address.includes(':') ? `[${address}]` : address
}

function fail (err) {
  const isPort = err?.code === 'EADDRINUSE' && err.port !== undefined
  const isHost = err?.code === 'EADDRNOTAVAIL' || err?.syscall === 'getaddrinfo'
  if (isPort) console.error(`kone: ${portError(err.port, err, ports.has(err.port)).message}`)
  else if (isHost) console.error(`kone: cannot listen: ${errorLine(err)}: --host must be an address of this machine (kone/docs/api/command.md)`)
  else console.error(`kone: ${errorLine(err)}`)
  process.exit(1)
}
