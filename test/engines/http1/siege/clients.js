'use strict'

const net = require('node:net')
const tls = require('node:tls')
const { setImmediate: turn, setTimeout: sleep } = require('node:timers/promises')

const { expected } = require('./model')
const { ENDS, isStalled, letterOf } = require('./plan')
const { Responses } = require('./responses')

/** A server that is silent for so long neither responds nor ends the connection, in ms: no timeout of a plan is longer. */
const PATIENCE = 8000

/** Between two looks of a slow reader, in ms. */
const PERIOD = 10
const MOST_PERIODS = 10

/**
 * Act one client of a conversation.
 *
 *    const record = await converse(port, conversation.clients[0], 0, false, turns)
 *    record.responses.whole.length
 *
 * `turns` resolves when the server has done what was due: its process may have had no core.
 */
async function converse (port, client, index, isSecure, turns) {
  if (client.start > 0) await sleep(client.start)
  const talk = new Talk(client, index, turns)
  await talk.connect(port, isSecure)
  if (talk.record.refused) return talk.record
  const acting = talk.act()
  await talk.closed
  await acting
  return talk.record
}

class Talk {
  constructor (client, index, turns) {
    this.client = client
    this.turns = turns
    this.index = index
    const patternOf = i => i < client.requests.length ? expected(client.requests[i], index, i).pattern : null
    this.responses = new Responses(client.requests.map(({ method }) => method), patternOf)
    this.over = false    // nothing more can be sent or received
    this.wake = () => {}
    this.record = {
      port: 0,
      refused: false,
      openedAt: 0,
      sent: [],              // per request: { startedAt, endedAt }, endedAt 0 when it is not sent whole
      responses: this.responses,
      activeAt: 0,           // when bytes last went in either direction
      silence: 0,            // the longest time in between, in ms
      endedBy: '',           // 'client' or 'server': who ended the connection first
      endedAt: 0,
      error: '',
      impatient: false       // the server neither responded nor ended the connection
    }
  }

  async connect (port, isSecure) {
    const { record } = this
    const options = { port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true }
    const socket = this.socket = isSecure ? tls.connect({ ...options, rejectUnauthorized: false }) : net.connect(options)
    this.closed = new Promise(resolve => socket.once('close', resolve))
    socket.on('error', err => { record.error ||= err.code })
    socket.on('close', () => this.end('server'))
    await new Promise(resolve => socket.once(isSecure ? 'secureConnect' : 'connect', resolve).once('close', resolve))
    if (socket.destroyed) {
      record.refused = true
      return
    }
    record.port = socket.localPort
    record.openedAt = record.activeAt = Date.now()
    this.read()
    this.patience = setTimeout(() => this.look(), PATIENCE)
    const { how, ms, bytes } = this.client.end
    if (how === ENDS.ABORT || how === ENDS.RESET) {
      this.abortion = setTimeout(() => this.leave(how), ms)
      this.most = bytes || Infinity
    }
  }

  /** Silent for long? Then the server has its turns, and only what is silent behind them waits for ever. */
  async look () {
    const { activeAt } = this.record
    const left = activeAt + PATIENCE - Date.now()
    if (left <= 0) {
      await this.turns()
      await turn()
      if (this.over) return
      if (this.record.activeAt === activeAt) {
        this.record.impatient = true
        return this.leave(ENDS.ABORT)
      }
    }
    this.patience = setTimeout(() => this.look(), Math.max(left, PATIENCE / 20))
  }

  read () {
    const { socket, client: { read: { hold, rate }, end } } = this
    let quota = rate || Infinity
    socket.on('data', chunk => {
      this.active()
      this.responses.push(chunk)
      if (this.responses.bytes >= this.most) this.leave(end.how)
      quota -= chunk.length
      if (quota <= 0) socket.pause()
      if (this.responses.error !== null) this.leave(ENDS.ABORT)
      this.wake()
    })
    socket.on('end', () => {
      this.end('server')
      socket.end()
    })
    const start = () => {
      socket.resume()
      if (rate > 0) {
        let last = Date.now()
        this.pace = setInterval(() => {
          const now = Date.now()
          // On a busy machine the interval is longer: what was missed is read then, but not all of it at once.
          quota = Math.min(quota + rate * (now - last) / PERIOD, MOST_PERIODS * rate)
          last = now
          if (quota > 0) socket.resume()
        }, PERIOD)
      }
    }
    if (hold === 0) start()
    else {
      socket.pause()
      this.hold = setTimeout(start, hold)
    }
  }

  /** Send everything, then leave as planned. */
  async act () {
    const { client: { requests, end }, responses, socket, record } = this
    let at = 0
    while (at < requests.length && !this.over) {
      let next = at + 1
      while (next < requests.length && requests[next].pipelined) next++
      await this.send(at, next)
      at = next
      if (at < requests.length || end.how === ENDS.WAIT) await this.until(() => responses.whole.length >= at)
    }
    if (this.over) return
    if (end.how === ENDS.HALF) {
      record.endedBy ||= 'client'
      record.endedAt = Date.now()
      socket.end()
    } else if (end.how === ENDS.WAIT) {
      await Promise.race([sleep(end.ms), this.closed])
      if (!this.over) this.leave(end.how)
    }
  }

  /** The requests from `first` to before `last`, in the pieces of the plan. */
  async send (first, last) {
    const { client: { requests, write: { piece, pause } }, record, index } = this
    const { sent } = record
    const parts = []
    const ends = []   // of each request of this burst, in its bytes
    let size = 0
    for (let i = first; i < last; i++) {
      parts.push(bytesOf(requests[i], index, i))
      ends.push(size += parts.at(-1).length)
      sent.push({ startedAt: 0, endedAt: 0 })
      if (!isStalled(requests[i])) continue
      ends[ends.length - 1] = Infinity
      break
    }
    const all = Buffer.concat(parts)
    const step = piece || size
    let started = 0
    let ended = 0
    for (let at = 0; at < size && !this.over; at += step) {
      while (started < ends.length && (ends[started - 1] ?? 0) < at + step) sent[first + started++].startedAt = Date.now()
      await this.write(all.subarray(at, at + step))
      if (this.over) return
      while (ended < ends.length && ends[ended] <= at + step) sent[first + ended++].endedAt = Date.now()
      if (pause > 0) await sleep(pause)
    }
  }

  write (bytes) {
    return new Promise(resolve => {
      this.active()
      this.socket.write(bytes, () => {
        this.active()
        resolve()
      })
      this.closed.then(resolve)
    })
  }

  active () {
    const { record } = this
    const now = Date.now()
    record.silence = Math.max(record.silence, now - record.activeAt)
    record.activeAt = now
  }

  async until (holds) {
    while (!holds() && !this.over) await new Promise(resolve => { this.wake = resolve })
  }

  leave (how) {
    this.end('client')
    if (how === ENDS.RESET && !this.socket.encrypted) this.socket.resetAndDestroy()
    else this.socket.destroy()
  }

  end (who) {
    const { record } = this
    record.endedBy ||= who
    record.endedAt ||= Date.now()
    if (this.over) return
    this.over = true
    this.responses.end()
    clearTimeout(this.patience)
    clearTimeout(this.abortion)
    clearTimeout(this.hold)
    clearInterval(this.pace)
    this.wake()
  }
}

/** A request as it is sent; what is missing of a stalled body is missing here. */
function bytesOf ({ method, close, expect, old, body }, client, request) {
  const lines = [`${method} /${client}/${request} HTTP/1.${old ? 0 : 1}`, 'Host: siege']
  if (expect) lines.push('Expect: 100-continue')
  if (old) lines.push('TE: chunked', ...close ? [] : ['Connection: keep-alive'])
  else if (close) lines.push('Connection: close')
  if (body !== null) lines.push(body.chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`)
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`)
  if (body === null) return head
  const content = Buffer.alloc(body.sent, letterOf(client, request))
  if (!body.chunked) return Buffer.concat([head, content])
  const parts = [head]
  for (let at = 0; at < content.length; at += CHUNK) {
    const chunk = content.subarray(at, at + CHUNK)
    parts.push(Buffer.from(`${chunk.length.toString(16)}${request % 2 ? ';n=1' : ''}\r\n`), chunk, Buffer.from('\r\n'))
  }
  if (body.sent === body.length) parts.push(Buffer.from(`0\r\n${request % 3 ? '' : 'X-End: 1\r\n'}\r\n`))
  return Buffer.concat(parts)
}

const CHUNK = 8 * 1024

module.exports = { PATIENCE, converse }
