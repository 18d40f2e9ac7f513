'use strict'

const { where } = require('./address')
const { PAGE, START_TIMEOUT } = require('./settings')

/** ms until a line says that the app listens on another port. */
const PATIENCE = 3000

/**
 * Wait until a worker listens.
 *
 * @param {ChildProcess} child
 * @param {number|string} port or the path of a Unix socket
 * @return {Promise<'http'|'https'>} rejected with one line if it does not
 */
module.exports = function untilReady (child, port) {
  return new Promise((resolve, reject) => {
    let reason
    let elsewhere
    let protocol = 'http'
    const printed = { stdout: '', stderr: '' }
    const found = () => elsewhere === undefined ? `nothing listens on ${where(port)}` : `the app listens on port ${elsewhere}, not on ${where(port)}`
    const patience = setTimeout(() => {
      if (elsewhere !== undefined) console.error(`kone: ${found()}: kone waits until it listens on process.env.PORT${PAGE}`)
    }, PATIENCE)
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      reject(new Error(`after ${START_TIMEOUT / 1000} s ${found()}: the app has to listen on process.env.PORT${PAGE}`))
    }, START_TIMEOUT)
    const end = () => {
      clearTimeout(patience)
      clearTimeout(timer)
    }

    child.on('message', message => {
      if (typeof message?.failed === 'string') {
        reason = message.failed
      } else if (message?.elsewhere !== undefined) {
        elsewhere = message.elsewhere
      } else if (message?.protocol !== undefined) {
        protocol = message.protocol
      } else if (message === 'ready' && reason === undefined) { // of two servers, the other one may have failed before
        end()
        resolve(protocol)
      }
    })
    child.once('error', err => { // it may also be node that cannot write to it, when it has died
      if (child.pid !== undefined) return
      end()
      reject(err)
    })
    for (const name of Object.keys(printed)) {
      child[name]?.setEncoding('utf8').on('data', text => { printed[name] = (printed[name] + text).slice(-10000) })
      child.once('exit', () => setImmediate(() => child[name]?.destroy())) // a program that the app has started keeps it open
    }
    child.once('close', (code, signal) => {
      end()
      const how = `it ended with ${signal || `exit code ${code}`} before it listened on ${where(port)}`
      const logged = lastWords(printed.stdout) // by a logger; it may also be anything else
      reject(new Error(reason || lastWords(printed.stderr) || `${how}${logged ? `: ${logged}` : ''}${PAGE}`))
    })
  })
}

/** What node prints itself: warnings, calls in C++, and its version below an error that nobody caught. */
const BY_NODE = /^(?:\(node:\d+\) |\(Use `node --trace-|Node\.js v\d|-+ Native stack|\s*\d+: 0x)/

/**
 * What an app said that ended itself: its last line, or the message of the error that it printed last, below which its
 * stack and its properties are.
 */
function lastWords (printed) {
  const lines = printed.split(/[\r\n]+/).filter(text => text.trim() && !BY_NODE.test(text))
  const isCall = text => /^\s+at /.test(text)
  const stack = lines.findLastIndex(isCall)
  if (stack === -1 || lines.slice(stack).some(text => /^[^\s}\]]/.test(text))) return lines.at(-1)
  const said = lines.slice(0, stack)
  const first = said.findLastIndex(text => /^(?!\s).*Error\b/.test(text))
  if (first === -1) return said.findLast(text => /^\S/.test(text))
  return lines.slice(first, lines.findIndex((text, i) => i > first && isCall(text))).join(' ')
}
