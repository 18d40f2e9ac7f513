'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const { setTimeout: sleep } = require('node:timers/promises')
const { freePort, onFreePort } = require('../helpers/ports')
const { missing, which } = require('../helpers/programs')
const networks = require('./network')
const { hasEnded, make, until } = require('./site')
const { Users, lost } = require('./users')

const FOLDER = path.join(__dirname, '../../examples/deploy')

// How long errors are allowed to go on once the host is back: until its app has given up the connection
// to Redis that the cut made useless, waited, and made another one. nginx needs no time: what it requested
// from the host during the cut was sent then, and it uses the other host until it finds this one well.
const RECOVERY = figure('app.js', /socketTimeout: (\d+)/) + figure('app.js', /retryStrategy: .*, (\d+)\)/) +
  figure('app.js', /connectTimeout: (\d+)/)

/** ms that the host is away: nginx gives up requests to it, and both sides their connections. */
const CUT = figure('nginx.conf', /proxy_read_timeout +(\d+)s/) * 1000 + 1000

const USERS = 12

const canCut = !missing('ip') && networks.areAllowed()

const kinds = {
  'network namespaces': {
    network: networks.namespaces,
    skip: missing('ip') || (canCut ? false : 'network namespaces are not allowed here')
  },
  'loopback addresses': { network: networks.loopback, skip: canCut && 'network namespaces are what hosts have' }
}

const programs = missing('nginx') || missing('redis-server') || missing('setpriv')

for (const [kind, { network, skip }] of Object.entries(kinds)) {
  describe(`two hosts behind a third, with ${kind}`, { skip: programs || skip }, () => {
    it('should keep users and acknowledged writes when one is cut off', { timeout: 300000 }, async t => {
      const { hosts, site } = await raise(t, network())
      const users = new Users(site.origin)
      t.after(() => users.stop())
      for (let i = 0; i < USERS; i++) users.add(`user${i}`)
      const answered = (host, from) => users.requests.some(one => one.host === host && one.asked > from)
      await until('both hosts respond', () => answered('a', 0) && answered('b', 0))
      await sleep(1000)
      const cutting = performance.now() // requests may fail from here on,
      await hosts.cut('a')
      const cut = performance.now() // and the host receives none from here on
      const arrivals = setInterval(() => users.add(`user${users.all.length}`), 1000)
      t.after(() => clearInterval(arrivals))
      await sleep(CUT)
      clearInterval(arrivals)
      const mended = performance.now()
      await hosts.mend('a')
      const end = performance.now() + RECOVERY
      await sleep(RECOVERY)
      await until('both hosts respond again', () => answered('a', end) && answered('b', end))
      await users.stop()
      report(t, users, { cut, mended, end })
      assert.deepEqual(users.faults, [])
      assert.ok(!users.requests.some(one => one.host === 'a' && one.asked > cut && one.ended < mended), 'a was cut off')
      assert.ok(users.requests.some(one => one.host === 'b' && one.asked > cut && one.ended < mended), 'b responded')
      assert.deepEqual(failed(users).filter(one => one.ended < cutting || one.asked > end), [], 'errors in the window only')
      assert.deepEqual(users.requests.filter(({ status }) => status >= 400 && status < 500), [], 'nobody is signed out')
      for (const host of ['a', 'b']) await check(users, `http://${hosts.address[host]}:${hosts.port[host]}`)
    })
  })
}

/** `edge` with nginx and Redis, `a` and `b` with the app. */
async function raise (t, hosts) {
  const data = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-hosts-'))
  t.after(async () => {
    await hosts.close()
    fs.rmSync(data, { recursive: true, force: true })
  })
  await hosts.open()
  const { address } = hosts
  const redis = await serve(hosts, 'edge', which('redis-server'), port => ({
    args: ['--port', String(port), '--bind', address.edge, '--protected-mode', 'no',
      '--dir', data, '--save', '', '--appendonly', 'yes', '--appendfsync', 'no'],
    isReady: child => child.printed.includes('Ready to accept connections')
  }))
  hosts.port = {}
  for (const host of ['a', 'b']) {
    hosts.port[host] = await serve(hosts, host, process.execPath, port => ({
      args: [path.join(FOLDER, 'app.js')],
      env: { HOST_NAME: host, PORT: port, REDIS_URL: `redis://${address.edge}:${redis}` },
      isReady: () => fetch(`http://${address[host]}:${port}/readyz`).then(({ ok }) => ok, () => false)
    }))
  }
  const site = await onFreePort(async port => {
    const made = await make({
      hosts: ['a', 'b'].map(host => `${address[host]}:${hosts.port[host]}`),
      port,
      plain: await freePort(),
      address: address.edge,
      spawn: (program, args) => hosts.spawn('edge', program, args)
    })
    await made.start().catch(async err => {
      await made.stop()
      throw err
    })
    return made
  })
  t.after(() => site.stop())
  return { hosts, site }
}

/**
 * Start a program on a host and wait until it is ready; on another port when its own was taken meanwhile.
 *
 * @param {Object} hosts
 * @param {String} host
 * @param {String} program
 * @param {(port: Number) => { args, env, isReady }} use
 * @return {Promise<Number>} the port
 */
function serve (hosts, host, program, use) {
  return onFreePort(async port => {
    const { args, env, isReady } = use(port)
    const child = hosts.spawn(host, program, args, env)
    await until(`${program} is ready on ${host}`, async () => {
      if (hasEnded(child)) {
        await child.ended // what it printed is complete then
        throw new Error(`${program} ended: ${child.printed}`)
      }
      return isReady(child)
    })
    return port
  })
}

/** At one host itself everybody who signed in still is, and finds each note that was acknowledged, and none twice. */
async function check (users, url) {
  for (const { name, cookies, written } of users.all.filter(({ signedIn }) => signedIn)) {
    const headers = { cookie: Object.entries(cookies).map(([name, value]) => `${name}=${value}`).join('; ') }
    const get = async path => (await fetch(url + path, { headers, signal: AbortSignal.timeout(10000) })).json()
    assert.equal((await get('/me')).user, name)
    const notes = await get('/notes')
    assert.deepEqual(lost(written, notes), [])
    assert.equal(new Set(notes).size, notes.length)
  }
}

function failed (users) {
  return users.requests.filter(({ failure }) => failure)
}

function report (t, users, { cut, mended, end }) {
  const seconds = ms => `${(ms / 1000).toFixed(1)} s`
  const { requests, all } = users
  const failures = failed(users)
  const times = failures.map(({ ended }) => ended - cut)
  const slowest = Math.max(...requests.filter(one => one.asked > cut && !one.failure).map(one => one.ended - one.asked))
  t.diagnostic(`${requests.length} requests of ${all.length} users, ${failures.length} failed; ` +
    `${all.reduce((sum, { written }) => sum + written.length, 0)} writes were acknowledged, and are there`)
  t.diagnostic(`cut off for ${seconds(mended - cut)}; errors are allowed for ${seconds(end - cut)} from the cut on` +
    (times.length ? `, and came after ${seconds(Math.min(...times))} to ${seconds(Math.max(...times))}` : ', and none came'))
  t.diagnostic(`the slowest response that came took ${seconds(slowest)}; failures: ${count(failures) || 'none'}`)
}

function count (failures) {
  const counts = {}
  for (const { failure } of failures) counts[failure] = (counts[failure] || 0) + 1
  return Object.entries(counts).map(([failure, times]) => `${times} × ${failure}`).join(', ')
}

/** What an example says: the test's figures are its own. */
function figure (file, pattern) {
  return Number(pattern.exec(fs.readFileSync(path.join(FOLDER, file), 'utf8'))[1])
}
