'use strict'

/**
 * Sends requests to an app and keeps the responses; keeps cookies.
 *
 *    const client = new Client(port, text => text.replace(id, 'ID'))
 *    const { status, headers, body } = await client.ask('POST /users', { json: { name: 'Ada' } })
 *    client.responses // all of them, masked
 */

const { once } = require('node:events')
const http = require('node:http')

class Client {
  constructor (port, mask = text => text) {
    this.port = port
    this.mask = mask
    this.responses = []
    this.cookies = new Map()
    this.agent = new http.Agent({ keepAlive: true })
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
    this.responses.push(JSON.parse(this.mask(text)))
  }

  async send (line, options) {
    const { method, path, headers, body } = Client.request(line, options)
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

  close () { this.agent.destroy() }

  /**
   * A request as load generators take it.
   *
   *    Client.request('POST /users', { json: { name: 'Ada' } }) // { method, path, headers, body }
   *
   * @param {string} line method and path
   * @param {{ headers?: object, json?: object, form?: object, body?: string }} [options]
   * @return {{ method: string, path: string, headers: object, body?: string }}
   */
  static request (line, { headers = {}, json, form, body } = {}) {
    const [method, path] = line.split(' ')
    const type = json ? 'application/json' : form && 'application/x-www-form-urlencoded'
    return {
      method,
      path,
      headers: type ? { ...headers, 'content-type': type } : { ...headers },
      body: json ? JSON.stringify(json) : form ? new URLSearchParams(form).toString() : body
    }
  }
}

module.exports = Client
