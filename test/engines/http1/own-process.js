'use strict'

const { execFile } = require('node:child_process')
const { promisify } = require('node:util')

/**
 * An app in a process of its own, after three requests, each on its own connection: which of them node:http has, the
 * reasons of KONE_WARN_FALLBACK, and what NODE_DEBUG=kone:http1 logs. `server` makes the server of `app`, `before` runs next.
 *
 *    await ownProcess({ before: 'app.http1 = false' }) // { nodes: [true, true, true], warnings: [], log: [] }
 */
module.exports = async function ownProcess ({ server = 'app.listen(0)', before = '', args = [], env }) {
  const script = `
    const http = require('node:http')
    const Kone = require('kone')
    const { get, isNodes, talk } = require('./sides')
    const app = new Kone()
    app.use(ctx => { ctx.body = 'hello' })
    const warnings = []
    process.removeAllListeners('warning').on('warning', ({ code, message }) => {
      if (code === 'KONE_WARN_FALLBACK') warnings.push(message.replace(/^requests go through node:http, .* because of /, ''))
    })
    const server = ${server}
    ${before}
    server.on('listening', async () => {
      const sockets = []
      server.on('connection', socket => sockets.push(socket))
      for (let i = 0; i < 3; i++) await (await talk(server.address().port, get('/'))).until(/hello$/)
      console.log(JSON.stringify({ nodes: sockets.map(isNodes), warnings }))
      process.exit()
    })`
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...args, '-e', script], {
    cwd: __dirname,
    env: { ...process.env, NODE_ENV: '', KONE_HTTP1: '', ...env }
  })
  return { ...JSON.parse(stdout), log: stderr.match(/(?<=KONE:HTTP1 \d+: ).*/g) ?? [] }
}
