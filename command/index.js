#!/usr/bin/env node
'use strict'

const { existsSync } = require('node:fs')
const { enableCompileCache } = require('node:module')
const { resolve } = require('node:path')
const errorLine = require('../cluster/error-line')
const { cwd } = require('../cluster/release')
const { version } = require('../package.json')
const { parse, unknown } = require('./flags')

// Node 22.1 and later keep compiled code for the next start. What the command starts inherits the variable. `kone try`
// writes nothing.
if (existsSync('node_modules') && process.argv[2] !== 'try') {
  process.env.NODE_COMPILE_CACHE ??= resolve(cwd(), 'node_modules/.cache/kone')
  enableCompileCache?.(process.env.NODE_COMPILE_CACHE) // Node 22 does not read what is set here
}

const PORT = { type: 'string', value: 'number|path', help: 'where it listens: a port, or the path of a Unix socket; default: PORT or 4000' }
const HOST = { type: 'string', value: 'name', help: 'name or address where it listens; default: HOST or ' }
const CLUSTER = { type: 'string', value: 'pm2|node', help: 'default: KONE_CLUSTER, or pm2 if it is installed' }
const HELP = { type: 'boolean', short: 'h', help: 'this page' }

/**
 * What the command can do: `run(file, values)` is called with the file, if it takes one, and the
 * values of its flags.
 */
const COMMANDS = {
  dev: {
    file: true,
    help: 'run an app during development: restart when a file changes, print the routes',
    flags: { port: PORT, host: { ...HOST, help: `${HOST.help}localhost alone` } },
    run: (file, values) => require('./dev')(file, values)
  },
  routes: {
    file: true,
    help: 'list the routes of an app: method, path and middleware',
    flags: { json: { type: 'boolean', help: 'as JSON' } },
    run: (file, values) => require('./routes')(file, values)
  },
  doctor: {
    help: 'show what kone brings to the Koa app in this folder',
    flags: { json: { type: 'boolean', help: 'as JSON' } },
    run: (file, values) => require('./doctor')(file, values)
  },
  try: {
    file: true,
    takesCommand: true,
    help: 'run an app on Koa and on kone, compare every response',
    flags: {
      requests: { type: 'string', value: 'file', help: 'a request per line: GET /path, or POST /path {"json":1}' },
      har: { type: 'string', value: 'file', help: 'requests that a browser recorded' },
      header: { type: 'string', multiple: true, value: 'name: value', help: 'a field of every request' },
      'all-methods': { type: 'boolean', help: 'also other methods than GET and HEAD; three processes really do what they ask for' },
      port: { type: 'string', value: 'number', help: 'of the server to try, as the app names it, if it has several' },
      measure: { type: 'boolean', help: 'then measure the CPU time per request of each' },
      seconds: { type: 'string', value: 'number', help: 'to measure a request at most; default: 20' },
      only: { type: 'string', value: 'pattern', help: "paths to measure, such as '/api/*'" },
      all: { type: 'boolean', help: 'measure all requests, not only the three dearest and the three cheapest' },
      json: { type: 'boolean', help: 'as JSON' }
    },
    run: async (file, values, command) => { process.exitCode = await require('./try')(command ?? [file], values, command === undefined) }
  },
  start: {
    file: true,
    help: 'serve an app on all cores',
    flags: {
      port: PORT,
      host: { ...HOST, help: `${HOST.help}all interfaces` },
      'socket-mode': { type: 'string', value: 'digits', help: 'who may connect to the Unix socket, such as 660; default: KONE_SOCKET_MODE' },
      instances: { type: 'string', value: 'number', help: 'workers; default: INSTANCES or all cores' },
      cluster: CLUSTER,
      'drain-timeout': { type: 'string', value: 'ms', help: 'how long a worker may drain; default: DRAIN_TIMEOUT or 10000' },
      'reuse-port': { type: 'boolean', help: 'each worker accepts its own connections; default: KONE_REUSE_PORT' }
    },
    run: (file, values) => require('./serve').start(file, values)
  },
  reload: {
    help: 'replace the app with the current version of its file, without losing a request',
    flags: { port: PORT, cluster: CLUSTER },
    run: (file, values) => require('./serve').ask('reload', values)
  },
  status: {
    help: 'list pid and state of the workers',
    flags: { port: PORT, cluster: CLUSTER },
    run: (file, values) => require('./serve').ask('status', values)
  },
  stop: {
    help: 'stop the app after the requests in flight',
    flags: { port: PORT, cluster: CLUSTER },
    run: (file, values) => require('./serve').ask('stop', values)
  }
}

const FLAGS = { help: HELP, version: { type: 'boolean', short: 'v', help: 'the version of kone' } }

main(process.argv.slice(2)).catch(err => {
  console.error(`kone: ${errorLine(err)}`)
  process.exit(process.argv[2] === 'try' ? 2 : 1) // 1 of `kone try` is: different
})

async function main (args) {
  const at = args.findIndex(arg => !arg.startsWith('-'))
  if (at === -1) {
    const values = parse(args, FLAGS, 'kone --help').values
    console.log(values.version ? version : overview())
    return
  }

  const [name] = args.splice(at, 1)
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : null
  if (command === null) throw new Error(unknown(`command ${name}`, name, Object.keys(COMMANDS), 'kone --help'))

  const program = command.takesCommand && args.includes('--') ? args.splice(args.indexOf('--')).slice(1) : undefined
  const { values, positionals } = parse(args, { ...command.flags, help: HELP }, `kone ${name} --help`)
  if (values.help) {
    console.log(page(name, command))
    return
  }
  const [file, ...rest] = positionals
  if (program?.length > 0 && file === undefined) return command.run(undefined, values, program)
  if (command.file && file === undefined) throw new Error(`no file was given: ${usage(name, command)} (see kone ${name} --help)`)
  const surplus = command.file ? rest[0] ?? program?.[0] : file
  if (surplus !== undefined) throw new Error(`${surplus} is one argument too many: ${usage(name, command)} (see kone ${name} --help)`)
  await command.run(file, values)
}

function usage (name, { file, flags, takesCommand }) {
  const way = `kone ${name}${file ? ' <file>' : ''}${Object.keys(flags).length > 0 ? ' [flags]' : ''}`
  return takesCommand ? `${way}, or kone ${name} [flags] -- <command>` : way
}

function overview () {
  const rows = Object.entries(COMMANDS).map(([name, command]) => [`kone ${name}${command.file ? ' <file>' : ''}`, command.help])
  return `usage:\n${table(rows)}\n\nkone <command> --help has the flags of a command.`
}

function page (name, command) {
  const rows = Object.entries({ ...command.flags, help: HELP })
    .map(([flag, { value, help }]) => [`--${flag}${value ? ` <${value}>` : ''}`, help])
  return `${usage(name, command)}\n\n  ${command.help}\n\n${table(rows)}`
}

function table (rows) {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join('\n')
}
