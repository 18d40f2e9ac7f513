'use strict'

const path = require('node:path')
const { spawn } = require('node:child_process')
const machine = require('../run/machine')
const { sample } = require('./sample')

const PAUSE = 500 // ms
const LATE = 30_000 // ms over its time: a server that accepts nothing would be waited for until TCP gives up

/** wrk as a generator: written in C, it can outrun every server here on one core. */
module.exports = function wrk ({ pin, late = LATE }) {
  let child = null

  function run (load) {
    const { connections, seconds, settle = 0, mark = () => {} } = load
    const duration = durationOf(load)
    const [program, ...args] = [...pin ? ['taskset', '-c', pin] : [], 'wrk', ...argumentsOf(load)]

    return new Promise((resolve, reject) => {
      let said = ''
      child = spawn(program, args, { env: { ...process.env, ...environmentOf(load) }, stdio: ['ignore', 'pipe', 'inherit'] })
      let before = 0
      child.stdout.on('data', chunk => {
        said += chunk
        const sent = before === 0 && /^\{"settled":(\d+)\}$/m.exec(said)?.[1]
        if (sent) {
          before = Math.max(1, sent - connections) // every connection has one on its way
          mark('settled')
        }
        if (before && said.includes('{"requests"')) mark('over')
      })
      const end = setTimeout(() => {
        said += `it was not done ${late / 1000} s after its time`
        child.kill('SIGKILL')
      }, duration * 1000 + late)
      child.once('error', reject)
      child.once('close', code => {
        clearTimeout(end)
        child = null
        const line = said.split('\n').find(text => text.startsWith('{"requests"'))
        if (!line) return reject(new Error(`wrk ended with code ${code}: ${said.trim()}`))
        const counts = JSON.parse(line.replace(/:-?nan\b/g, ':null')) // Lua's mean of nothing
        if (!counts.requests || counts.mean === null) return reject(new Error(`no response came in ${seconds} s`))
        const whole = sample(counts)
        if (!settle) return resolve(whole)
        // the thousands that are closed now must not be the next round's work
        setTimeout(() => resolve(before ? { ...whole, counted: whole.requests - before } : whole), PAUSE)
      })
    })
  }

  return { run, stop: () => child?.kill('SIGKILL') }
}

// Whole seconds, as wrk takes them.
const durationOf = ({ seconds, settle = 0 }) => seconds + Math.ceil(settle)

function argumentsOf (load) {
  const { port, protocol = 'http', method = 'GET', path: target = '/', headers = {}, body = '' } = load
  const { connections, pipeline = 1, cookies = 0, settle } = load
  return [
    '-t1', `-c${connections}`, `-d${durationOf(load)}s`, '-s', path.join(__dirname, 'wrk.lua'),
    ...settle ? ['--timeout', '60s'] : [], // a server may take seconds to go round all of them
    ...Object.keys(headers).flatMap(name => ['-H', `${name}: ${headers[name]}`]),
    `${protocol}://127.0.0.1:${port}${target}`, '--', method, String(pipeline), String(cookies), body
  ]
}

// What wrk.lua reads besides its arguments.
const environmentOf = ({ connections, settle = 0, isFailing = false, version = '1.1' }) =>
  ({ CONNECTIONS: String(connections), SETTLE: String(settle), FAILING: String(isFailing), VERSION: version })

module.exports.missing = () => machine.program('wrk') ? null : 'apt-get install wrk (Debian, Ubuntu) or brew install wrk'
