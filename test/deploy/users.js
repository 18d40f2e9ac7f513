'use strict'

const assert = require('node:assert/strict')
const https = require('node:https')
const { setTimeout: sleep } = require('node:timers/promises')
const visitor = require('../helpers/visitor')
const { ask } = require('./site')

/** ms that somebody thinks at most between two requests. */
const THINKING = 300

/** ms after which a response will not come any more: longer than nginx tries. */
const PATIENCE = 15000

/**
 * People who sign in to examples/deploy/app.js, write notes and read them, until `stop()` is
 * called. Only a sign-in that failed is requested twice.
 *
 *    const users = new Users(site.origin)
 *    users.add('ann')
 *    await users.stop()
 *    users.requests   // [{ line, asked, ended, status, host, failure }], times of performance.now()
 *    users.all        // [{ name, signedIn, written, cookies }], `written` are the notes that were acknowledged
 *    users.faults     // answers that say something wrong
 */
exports.Users = class Users {
  constructor (origin) {
    this.origin = origin
    this.requests = []
    this.all = []
    this.faults = []
    this.lives = []
    this.stopped = false
  }

  add (name) {
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 })
    const visit = visitor((origin, line, options) => this.ask(line, { ...options, agent }), this.origin)
    const user = { name, signedIn: false, written: [], cookies: visit.cookies }
    this.all.push(user)
    this.lives.push(this.live(user, visit).catch(err => this.faults.push(err)).finally(() => agent.destroy()))
  }

  async stop () {
    this.stopped = true
    await Promise.all(this.lives)
  }

  async live (user, visit) {
    const { name, written } = user
    while (!user.signedIn && !this.stopped) {
      user.signedIn = (await visit('POST /sign-in', { body: { name } })).status === 200
      await think()
    }
    for (let i = 0; !this.stopped; i++) {
      const text = `${name}, ${i}`
      const { status } = await visit('POST /notes', { body: { text } })
      if (status === 201) written.push(text)
      await think()
      const me = await visit('GET /me')
      if (me.status === 200) assert.equal(me.json().user, name, 'still signed in')
      await think()
      const notes = await visit('GET /notes')
      if (notes.status === 200) assert.deepEqual(lost(written, notes.json()), [], 'what was acknowledged is there')
      await think()
    }
  }

  async ask (line, { headers, ...options }) {
    const [method, path] = line.split(' ')
    const request = { line, asked: performance.now() }
    this.requests.push(request)
    const res = await ask(this.origin + path, {
      method, headers: { origin: this.origin, ...headers }, timeout: PATIENCE, ...options
    }).catch(err => ({ status: 0, headers: {}, text: err.message }))
    request.ended = performance.now()
    request.status = res.status
    if (res.status === 200 || res.status === 201) request.host = JSON.parse(res.text).host
    else request.failure = `${line}: ${res.status || res.text}`
    return res
  }
}

function think () {
  return sleep(Math.random() * THINKING)
}

/** Of the notes that were acknowledged those that are not there. */
function lost (written, notes) {
  return written.filter(text => !notes.includes(text))
}

exports.lost = lost
