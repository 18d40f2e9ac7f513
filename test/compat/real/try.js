'use strict'

const { spawn } = require('node:child_process')
const fs = require('node:fs')
const path = require('node:path')
const Client = require('./client')

const KONE = path.join(__dirname, '../../../command/index.js')

/** Keeps the requests that an app's `ask()` sends, as a browser's network panel does. */
class Recorder extends Client {
  entries = []

  send (line, options) {
    const { method, path, headers, body } = Client.request(line, options)
    const request = {
      method,
      url: `http://127.0.0.1:${this.port}${path}`,
      headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
      ...body !== undefined && { postData: { text: body } }
    }
    this.entries.push({ request })
    return super.send(line, options)
  }
}

/**
 * What `kone try` says of an application: it is started where it is installed with koa, and gets the requests of `ask()`.
 * Those that depend on what an earlier response had (a code, a token) have that of the recording.
 *
 * @param {object} app of applications.js
 * @param {{ folder: string, port: number, node: string, flags?: string[] }} how port: where it listens on koa
 * @return {Promise<object>} the JSON of `kone try`, with `code`
 */
exports.tried = async function (app, { folder, port, node, flags = [] }) {
  const recorder = new Recorder(port)
  try {
    await app.ask(recorder)
  } finally {
    recorder.close()
  }
  const har = path.join(folder, `${app.name}.har`)
  fs.writeFileSync(har, JSON.stringify({ log: { entries: recorder.entries } }))
  const start = [node, '-e', `require(${JSON.stringify(path.join(folder, `${app.name}.js`))}).serve()`]
  const args = [KONE, 'try', '--har', har, '--all-methods', '--json', ...flags, '--', ...start]
  const child = spawn(node, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] })
  const [out, code] = await Promise.all([
    child.stdout.setEncoding('utf8').toArray(),
    new Promise(resolve => child.once('close', resolve))
  ])
  return { ...JSON.parse(out.join('')), code }
}
