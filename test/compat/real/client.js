'use strict'

/**
 * Sends requests to an app and keeps the responses; keeps cookies.
 *
 *    const client = new Client(port, text => text.replace(id, 'ID'))
 *    const { status, headers, body } = await client.ask('POST /users', { json: { name: 'Ada' } })
 *    client.answers                          // all of them, masked
 *    await client.load('GET /users', 1000)   // 8 at a time, each checked
 */

const { once } = require('node:events')
const http = require('node:http')

const CONCURRENCY = 8

class Client {
  constructor (port, mask = text => text) {
    this.port = port
    this.mask = mask
    this.answers = []
    this.cookies = new Map()
    this.agent = new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY })
  }

  async ask (line, options) {
    const answer = await this.send(line, options)
    for (const cookie of answer.headers['set-cookie'] || []) {
      const [name, ...value] = cookie.split(';')[0].split('=')
      this.cookies.set(name, value.join('='))
    }
    this.note({ line, ...answer, headers: { ...answer.headers, date: undefined } })
    return answer
  }

  // Everything that differs in each response has to be masked; so has the port.
  note (answer) {
    const text = JSON.stringify(answer).replaceAll(String(this.port), 'PORT')
    this.answers.push(JSON.parse(this.mask(text)))
  }

  async send (line, { headers = {}, json, form, body } = {}) {
    const [method, path] = line.split(' ')
    headers = { ...headers }
    if (json) {
      headers['content-type'] = 'application/json'
      body = JSON.stringify(json)
    }
    if (form) {
      headers['content-type'] = 'application/x-www-form-urlencoded'
      body = new URLSearchParams(form).toString()
    }
    if (body) headers['content-length'] = Buffer.byteLength(body)
    if (this.cookies.size > 0) headers.cookie = Array.from(this.cookies, pair => pair.join('=')).join('; ')

    const req = http.request({ host: '127.0.0.1', port: this.port, agent: this.agent, method, path, headers })
    req.end(body)
    const [res] = await once(req, 'response')
    const chunks = []
    for await (const chunk of res) chunks.push(chunk)
    return {
      status: res.statusCode,
      reason: res.statusMessage,
      headers: res.headers,
      body: Buffer.concat(chunks).toString('latin1')
    }
  }

  async load ({ line, status = 200, ...options }, requests) {
    let left = requests
    const worker = async () => {
      while (left-- > 0) {
        const answer = await this.send(line, options)
        if (answer.status !== status) throw new Error(`${line}: ${answer.status} ${answer.body.slice(0, 200)}`)
      }
    }
    await Promise.all(Array.from({ length: CONCURRENCY }, worker))
  }

  close () {
    this.agent.destroy()
  }
}

module.exports = Client
