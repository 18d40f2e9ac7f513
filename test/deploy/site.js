'use strict'

const { execFile, spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const https = require('node:https')
const os = require('node:os')
const path = require('node:path')
const { setTimeout: sleep } = require('node:timers/promises')
const { promisify } = require('node:util')
const certificate = require('../../examples/certificate')
const { which } = require('../helpers/programs')

const CONF = path.join(__dirname, '../../examples/deploy/nginx.conf')

/**
 * A folder with nginx.conf of examples/deploy in it, whose paths, ports and hosts are the test's.
 *
 *    const site = await make({ hosts: ['127.0.0.1:4001', '127.0.0.1:4002'], port: 8443, plain: 8080 })
 *    await site.check()   // nginx -t
 *    await site.start()
 *    await site.stop()    // and remove the folder
 *
 * @param {{ hosts: String[], port: Number, plain: Number, address?: String, spawn?: Function }} options
 *   `hosts` are kone's, `address` is nginx's own, `spawn` starts it there
 */
exports.make = async function ({ hosts, port, plain, address = '127.0.0.1', spawn = spawnHere }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-nginx-'))
  const file = path.join(folder, 'nginx.conf')
  const { key, cert } = await certificate()
  fs.writeFileSync(path.join(folder, 'tls.key'), key)
  fs.writeFileSync(path.join(folder, 'tls.crt'), cert)

  let text = fs.readFileSync(CONF, 'utf8')
  text = replace(text, '/etc/nginx/tls', folder)
  text = replace(text, 'listen 80;', `listen ${address}:${plain};`)
  text = replace(text, 'listen 443 ', `listen ${address}:${port} `)
  hosts.forEach((host, i) => { text = replace(text, `10.0.0.1${i + 1}:4000`, host) })
  fs.writeFileSync(path.join(folder, 'kone.conf'), text)
  fs.writeFileSync(file, `${os.userInfo().uid === 0 ? 'user root;' : ''}
    daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
    events { worker_connections 512; }
    http {
      access_log off; gzip on; gzip_types text/event-stream application/json;
      ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(name => `${name}_temp_path ${folder}/${name};`).join(' ')}
      include ${folder}/kone.conf;
    }`)

  const args = ['-e', path.join(folder, 'error.log'), '-c', file]
  const origin = `https://${address}:${port}`
  let child
  return {
    origin,
    log: () => fs.readFileSync(path.join(folder, 'error.log'), 'utf8'),
    check: () => promisify(execFile)(which('nginx'), ['-t', ...args]),
    async start () {
      child = spawn(which('nginx'), args)
      await until('nginx listens', () => {
        if (hasEnded(child)) throw new Error(`nginx ended: ${this.log()}`)
        return ask(`${origin}/healthz`).catch(() => null)
      })
    },
    async stop () {
      if (child && !hasEnded(child)) {
        child.kill('SIGTERM')
        await once(child, 'exit')
      }
      fs.rmSync(folder, { recursive: true, force: true })
    }
  }
}

function hasEnded ({ exitCode, signalCode }) {
  return exitCode !== null || signalCode !== null
}

function spawnHere (program, args) {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'inherit'] })
  process.once('exit', () => child.kill('SIGKILL'))
  return child
}

function replace (text, what, by) {
  if (!text.includes(what)) throw new Error(`nginx.conf has no ${what} any more`)
  return text.replaceAll(what, by)
}

/**
 * One request over TLS; rejects when it fails or stays without a response.
 *
 * @param {String} url
 * @param {{ method, headers, body, agent, localAddress, timeout }} [options] body: sent as JSON; timeout in ms
 * @return {Promise<{ status, headers, text, json() }>}
 */
function ask (url, { body, headers, timeout = 30000, ...options } = {}) {
  return new Promise((resolve, reject) => {
    const payload = body === undefined ? undefined : JSON.stringify(body)
    const type = payload && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }
    const req = https.request(url, { ...options, rejectUnauthorized: false, headers: { ...type, ...headers } })
    const timer = setTimeout(() => req.destroy(new Error('no response')), timeout)
    req.on('close', () => clearTimeout(timer))
    req.on('error', reject)
    req.on('response', res => {
      res.on('error', reject)
      res.toArray().then(chunks => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: res.statusCode, headers: res.headers, text, json: () => JSON.parse(text) })
      }, reject)
    })
    req.end(payload)
  })
}

/** Wait for a condition, at most `timeout` ms. */
async function until (what, condition, timeout = 60000) {
  const deadline = performance.now() + timeout
  for (;;) {
    const value = await condition()
    if (value) return value
    if (performance.now() > deadline) throw new Error(`never: ${what}`)
    await sleep(50)
  }
}

Object.assign(exports, { ask, hasEnded, until })
