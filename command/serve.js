'use strict'

const cluster = require('../cluster')
const { checkFile } = require('./file')
const { end, print } = require('./print')

/** Flag → the variable that it stands for. */
const VARIABLES = {
  port: 'PORT',
  host: 'HOST',
  'socket-mode': 'KONE_SOCKET_MODE',
  instances: 'INSTANCES',
  cluster: 'KONE_CLUSTER',
  'drain-timeout': 'DRAIN_TIMEOUT',
  'reuse-port': 'KONE_REUSE_PORT'
}

/**
 * `kone start`.
 *
 * @param {string} file
 * @param {object} values of the flags
 */
exports.start = async function (file, values) {
  const { flags } = checkFile(file)
  process.execArgv.push(...flags) // the workers' too
  const { text, isOver } = await cluster.start(file, environment(values))
  print([text])
  if (isOver) process.exit(0)
}

/**
 * `kone reload`, `kone status`, `kone stop`.
 */
exports.ask = async function (command, values) {
  print(await cluster.ask(command, environment(values)))
  end() // pm2's client keeps sockets open
}

function environment (values) {
  const env = { ...process.env }
  for (const [flag, variable] of Object.entries(VARIABLES)) {
    if (values[flag] !== undefined) env[variable] = values[flag] === true ? '1' : values[flag]
  }
  return env
}
